//! A specification that comes to `constraints` becomes part of the program.

fn main() {
    println!("cargo::rerun-if-changed=../../../constraints");
}
