//! The program as people run it: sessions against the embedded server, and against servers that
//! are not ours.

#[test]
fn x() {
    let _ = env!("CARGO_BIN_EXE_promptarium");
}
