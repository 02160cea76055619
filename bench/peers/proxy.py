"""FastMCP's proxy before a tool server over HTTP, to be measured beside the gate.

    python proxy.py URL

Prints the port at which it listens.
"""

import logging
import socket
import sys

from fastmcp.server import create_proxy

logging.disable(logging.WARNING)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
print(port, flush=True)
create_proxy(sys.argv[1]).run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")
