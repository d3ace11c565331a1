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

            impl $template {
                pub fn module(&self) -> String {
                    format!("pushmem_axi_{}{}", style(self.programmed), $end)
                }
            }
        )*
    };
}

managers! {
    Bursts: "library/axi_bursts.veryl", "bursts";
    Reader: "library/axi_reader.veryl", "reader";
    Writer: "library/axi_writer.veryl", "writer"
}

impl Bursts {
    fn lasts(&self) -> &'static str {
        if self.programmed { "lasts_i" } else { "Lasts" }
    }

    fn sizes(&self) -> &'static str {
        if self.programmed { "sizes_i" } else { "Sizes" }
    }
}

/// Expressions of a manager of a stream.
trait Manager {
    fn is_programmed(&self) -> bool;

    /// The name of its module of bursts.
    fn bursts(&self) -> String {
        Bursts { programmed: self.is_programmed() }.module()
    }

    /// The beats of a run.
    fn beats(&self) -> &'static str {
        if self.is_programmed() { "beats_q" } else { "Beats as BeatBits" }
    }

    /// The words of a beat of the stream.
    fn lanes(&self) -> &'static str {
        if self.is_programmed() { "lanes_i as RoomBits" } else { "Lanes as RoomBits" }
    }
}

impl Manager for Reader {
    fn is_programmed(&self) -> bool {
        self.programmed
    }
}

impl Manager for Writer {
    fn is_programmed(&self) -> bool {
        self.programmed
    }
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
