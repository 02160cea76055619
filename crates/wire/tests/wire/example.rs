//! The example of the crate, run; and the guide, which shows what it does.

#[path = "../../examples/notes.rs"]
#[expect(dead_code, reason = "its `main` prints what the test looks at")]
mod notes;

#[test]
fn the_guide_shows_the_example_and_what_it_prints() {
    let guide = include_str!("../../../../docs/guide/wire.md");
    let code = include_str!("../../examples/notes.rs");
    for line in notes::lines().unwrap() {
        assert!(guide.contains(&format!("\n{line}\n")), "{line}");
    }
    let inside = guide.split("```rust\n").skip(1).filter_map(|block| block.split("```").next());
    let mut shown = 0;
    for block in inside {
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            assert!(code.lines().any(|known| known.trim() == line.trim()), "the example has no line: {line}");
            shown += 1;
        }
    }
    assert!(shown > 20, "the guide shows the example");
}
