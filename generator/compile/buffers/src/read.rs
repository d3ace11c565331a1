//! Buffer files.

use pushmem_files::{Code, Diagnostic, Document, FieldPath};

use crate::buffer::{Direction, UnifiedBuffer};

impl UnifiedBuffer {
    /// Reads a buffer from the document of a file, written by hand, and checks it.
    ///
    /// ```
    /// use pushmem_buffers::UnifiedBuffer;
    /// use pushmem_files::Document;
    ///
    /// let text = "
    /// name: line
    /// ports:
    ///   - name: in
    ///     direction: write
    ///     domain: [{name: x, extent: 64}, {name: y, extent: 64}]
    ///     access: [{stride: [1, 0]}, {stride: [0, 1]}]
    ///     schedule: {stride: [1, 64]}
    ///   - name: out
    ///     direction: read
    ///     domain: [{name: x, extent: 64}, {name: y, extent: 64}]
    ///     access: [{stride: [1, 0]}, {stride: [0, 1]}]
    ///     schedule: {start: 65, stride: [1, 64]}
    /// ";
    /// let buffer = UnifiedBuffer::from_document(&Document::parse("line.yaml", text).unwrap()).unwrap();
    /// assert_eq!(buffer.ports[1].schedule_text(), "(x, y) → 64y + x + 65");
    /// ```
    ///
    /// # Errors
    /// A located message when the document has an unknown key or a value of the wrong type, or is no buffer.
    pub fn from_document(document: &Document) -> Result<Self, Diagnostic> {
        Self::checked(document).map_err(|problem| problem.or_code(Code::Buffer))
    }

    fn checked(document: &Document) -> Result<Self, Diagnostic> {
        let buffer: UnifiedBuffer = document.deserialize()?;
        buffer.check().map_err(|fault| fault.located(document, Code::Buffer))?;
        let ports = FieldPath::root().key("ports");
        for direction in [Direction::Write, Direction::Read] {
            if buffer.directed(direction).next().is_none() {
                let message = format!("no port of the buffer has the direction `{}`", direction.name());
                return document.refuse_at_key(
                    &ports,
                    message,
                    "a buffer takes words by at least one port, and gives them by at least one",
                );
            }
        }
        for (number, port) in buffer.ports.iter().enumerate() {
            for (level, place) in port.domain.iter().enumerate() {
                if port.domain[..level].iter().any(|other| other.name == place.name) {
                    let path = ports.index(number).key("domain").index(level).key("name");
                    let message = format!("port {}: another loop is named `{}`", port.name, place.name);
                    return document.refuse(&path, message, "give each loop of a port a name of its own");
                }
            }
        }
        Ok(buffer)
    }
}
