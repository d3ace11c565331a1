//! The modules of shells that vary by parameters alone.

use askama::Template;

/// The modules of managers, whose beats and walks are parameters or registers.
macro_rules! managers {
    ($($template:ident: $path:literal, $end:literal);*) => {
        $(
            #[derive(Template)]
            #[template(path = $path, escape = "none")]
            pub(crate) struct $template {
                pub programmed: bool,
            }

            impl Manager for $template {
                const END: &'static str = $end;

                fn is_programmed(&self) -> bool {
                    self.programmed
                }
            }
        )*
    };
}

/// Expressions of a manager: those of parameters, or of registers.
pub(crate) trait Manager {
    /// The end of its name.
    const END: &'static str;

    fn is_programmed(&self) -> bool;

    fn module(&self) -> String {
        format!("pushmem_axi_{}{}", style(self.is_programmed()), Self::END)
    }

    /// The name of its module of bursts.
    fn bursts(&self) -> String {
        Bursts { programmed: self.is_programmed() }.module()
    }

    /// One of two expressions.
    fn either(&self, register: &'static str, parameter: &'static str) -> &'static str {
        if self.is_programmed() { register } else { parameter }
    }
}

managers! {
    Bursts: "library/axi_bursts.veryl", "bursts";
    Reader: "library/axi_reader.veryl", "reader";
    Writer: "library/axi_writer.veryl", "writer"
}

/// A part of the names of managers.
pub(crate) fn style(programmed: bool) -> &'static str {
    if programmed { "programmed_" } else { "" }
}

macro_rules! library {
    ($($name:literal),*) => {
        [$((concat!("pushmem_", $name), include_str!(concat!("../../../../templates/bus/library/", $name, ".veryl")))),*]
    };
}

/// Modules of every shell, of one with streams, and of one with images beside the managers: name and Veryl text.
pub(crate) const LIBRARY: [(&str, &str); 3] = library!("channel_rules", "axi_lite", "configuration_access");
pub(crate) const OF_STREAMS: [(&str, &str); 2] = library!("stream_in_frame", "stream_out_frame");
pub(crate) const OF_IMAGES: [(&str, &str); 1] = library!("fifo");
pub(crate) const OF_ROWS: [(&str, &str); 3] = library!("fifo", "axi_burst", "axi_rows");

/// Modules of an adapter to each bus.
pub(crate) const OF_APB: [(&str, &str); 3] = library!("apb_rules", "apb", "configuration_access");
pub(crate) const OF_AXI_LITE: [(&str, &str); 3] = LIBRARY;
pub(crate) const OF_TILELINK: [(&str, &str); 3] = library!("channel_rules", "tilelink", "configuration_access");
