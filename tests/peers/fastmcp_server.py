"""A server made with FastMCP: tools with nested and recursive types, a resource, a template and a prompt.

    python fastmcp_server.py [PORT]

Serves standard input and output, or with PORT Streamable HTTP at 127.0.0.1.
"""

import sys
from typing import Annotated, Literal

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, Field

server = FastMCP("shipyard")


class Part(BaseModel):
    name: str
    parts: list["Part"] = []


class Order(BaseModel):
    part: Part
    count: Annotated[int, Field(ge=1, le=99)]
    wood: Literal["oak", "elm"] = "oak"


@server.tool
def order(order: Order) -> Order:
    """Orders a part."""
    return order


@server.tool
async def saw(planks: int, context: Context) -> int:
    """Saws planks and says how far it is."""
    for plank in range(planks):
        await context.report_progress(plank + 1, planks)
    return planks


@server.tool
def sink() -> str:
    """Always fails."""
    raise ToolError("the hull leaks")


@server.resource("yard://keel")
def keel() -> str:
    """What the keel is of."""
    return "oak"


@server.resource("yard://ribs/{number}")
def rib(number: str) -> str:
    """One of the ribs."""
    return f"rib {number}"


@server.prompt
def plan(ship: str) -> str:
    """Asks for a plan."""
    return f"Draw a plan of the {ship}."


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
    else:
        server.run(show_banner=False)
