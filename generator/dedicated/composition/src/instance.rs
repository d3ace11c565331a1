//! Instances of modules.

use std::fmt;

use askama::Template;
use pushmem_tile::TileSpec;

/// An instance of a module.
#[derive(Template)]
#[template(path = "instance.sv", escape = "none")]
pub(crate) struct Instance {
    /// Name of the module.
    pub module: String,
    pub name: String,
    pub parameters: Vec<Connection>,
    pub ports: Vec<Connection>,
}

/// Connection of a parameter or port.
pub(crate) struct Connection {
    /// Name of the port, padded so that all values are below each other.
    pub port: String,
    pub value: String,
}

/// Name of the module of a tile.
pub(crate) fn tile_module(spec: &TileSpec) -> String {
    format!("{}_tile", spec.name)
}

impl Instance {
    pub fn new(module: impl Into<String>, name: impl Into<String>) -> Self {
        Instance { module: module.into(), name: name.into(), parameters: Vec::new(), ports: Vec::new() }
    }

    pub fn parameter(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.parameters.push(Connection { port: name.to_owned(), value: value.to_string() });
        self
    }

    pub fn port(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.ports.push(Connection { port: name.to_owned(), value: value.to_string() });
        self
    }

    /// Connects ports to signals of the same name.
    pub fn same(self, names: &[&str]) -> Self {
        names.iter().fold(self, |instance, name| instance.port(name, name))
    }

    /// Connects ports to signals of other names.
    pub fn to(self, connections: &[(&str, &str)]) -> Self {
        connections.iter().fold(self, |instance, (port, signal)| instance.port(port, signal))
    }

    /// The instance as text.
    pub fn print(mut self) -> String {
        for connections in [&mut self.parameters, &mut self.ports] {
            let width = connections.iter().map(|connection| connection.port.len()).max().unwrap_or(0);
            for connection in connections {
                connection.port = format!("{:width$}", connection.port);
            }
        }
        self.render().expect("templates write to memory").trim_matches('\n').to_owned()
    }
}
