{%- let shell = self.0.shell -%}
"""{{ self.0.of_hardware() }} behind {{ self.0.buses() }}, as a module of a LiteX SoC.

    self.{{ shell.module }} = {{ self.class() }}(platform)
{%- if shell.rows().is_some() %}
    self.{{ shell.module }}.add_to(self, "{{ shell.module }}", origin=0x90000000, buffer_origin=0xa0000000)

adds its registers and its banks to the bus of the SoC, and its interrupt where the processor has some. Firmware finds their addresses as
`{{ shell.module|upper }}_BASE` and `{{ shell.module|upper }}_BUFFER_BASE` in what LiteX writes.
{%- else %}
    self.{{ shell.module }}.add_to(self, "{{ shell.module }}", origin=0x90000000)

adds its registers to the bus of the SoC, its managers as masters, and its interrupt where the processor has some. Firmware finds the
address of the registers as `{{ shell.module|upper }}_BASE` in what LiteX writes.
{%- endif %}
"""

from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal, Signal

FOLDER = Path(__file__).resolve().parent
{%- if let Some(rows) = shell.rows() %}
# Bytes of the registers, and of the address space of the banks.
BYTES = 0x{{ "{:x}"|format(self.0.bytes()) }}
BUFFER_BYTES = 0x{{ "{:x}"|format(rows.range()) }}
{%- else %}
# Bytes of the registers, and bits of an address of a manager: where those of the SoC are narrower, the upper ones are left out.
BYTES = 0x{{ "{:x}"|format(self.0.bytes()) }}
ADDRESS_BITS = {{ self.address_bits() }}
{%- endif %}


class {{ self.class() }}(LiteXModule):
    """The shell `{{ shell.module }}`: `control` is the interface of its registers, {% if shell.rows().is_some() %}`buffer` that of its banks{% else %}`images` has the manager of each {% if shell.programmed() %}stream{% else %}image{% endif %}{% endif %}."""

    def __init__(self, platform, address_width=32):
        self.control = axi.AXILiteInterface(data_width=32, address_width=address_width)
{%- if let Some(rows) = shell.rows() %}
        self.buffer = axi.AXIInterface(data_width={{ rows.data_bits() }}, address_width=address_width, id_width={{ GlobalBuffer::ID_BITS }})
{%- else %}
        self.images = {
{%- for image in shell.images %}
            "{{ image.name }}": axi.AXIInterface(data_width={{ shell.memory.bits }}, address_width=address_width, id_width=1),
{%- endfor %}
        }
{%- endif %}
        # Follows the interrupt of the shell, which the driver takes back there.
        self.ev = EventManager()
        self.ev.job = EventSourceLevel(description="The end of a job, until the driver takes it.")
        self.ev.finalize()
{%- for port in shell.passed %}
        self.{{ port.name }} = Signal({{ port.bits }})
{%- endfor %}

        control = self.control
{%- if shell.rows().is_some() %}
        buffer = self.buffer
{%- endif %}
{%- for image in shell.images %}
        {{ self.local(image) }} = self.images["{{ image.name }}"]
        {{ self.local(image) }}_address = Signal(ADDRESS_BITS)
        self.comb += {{ self.local(image) }}.{{ image.address_channel() }}.addr.eq({{ self.local(image) }}_address)
{%- endfor %}
        self.specials += Instance(
            "{{ shell.module }}",
            i_ap_clk=ClockSignal(),
            i_ap_rst_n=~ResetSignal(),
            o_interrupt_o=self.ev.job.trigger,
{%- for port in self.control() %}
            {{ port.0 }}={{ port.1 }},
{%- endfor %}
{%- for port in self.buffer() %}
            {{ port.0 }}={{ port.1 }},
{%- endfor %}
{%- for image in shell.images %}
{%- for port in self.manager(image) %}
            {{ port.0 }}={{ port.1 }},
{%- endfor %}
{%- endfor %}
{%- for port in shell.passed %}
            {% if port.output %}o{% else %}i{% endif %}_{{ port.name }}=self.{{ port.name }},
{%- endfor %}
        )
        self.add_sources(platform)

    @staticmethod
    def add_sources(platform):
        """Adds the files of the shell to a platform. A module that another accelerator has, too, is there once."""
        known = {Path(source[0]).name: Path(source[0]) for source in platform.sources}
        for line in (FOLDER / "filelist.f").read_text().split():
            path = FOLDER / line.removeprefix("+incdir+")
            other = known.get(path.name)
            if path.is_dir():
                platform.add_verilog_include_path(str(path))
            elif other is None:
                platform.add_source(str(path), language="systemverilog")
            elif other.read_bytes() != path.read_bytes():
                raise ValueError(f"{path} and {other} are two modules of one name: write both folders with one version of pushmem and the "
                                 "same options, or one with --prefix")

{%- if shell.rows().is_some() %}
    def add_to(self, soc, name, origin, buffer_origin):
        """Connects it to a SoC, of which it is the module `name`."""
        soc.bus.add_slave(name, self.control, SoCRegion(origin=origin, size=BYTES, cached=False))
        # Bridges of LiteX from full AXI to a wider bus take no single beats, those of AXI4-Lite do.
        beats = axi.AXILiteInterface(data_width=self.buffer.data_width, address_width=self.buffer.address_width)
        self.bridge = axi.AXILite2AXI(beats, self.buffer)
        soc.bus.add_slave(f"{name}_buffer", beats, SoCRegion(origin=buffer_origin, size=BUFFER_BYTES, cached=False))
{%- else %}
    def add_to(self, soc, name, origin):
        """Connects it to a SoC, of which it is the module `name`."""
        soc.bus.add_slave(name, self.control, SoCRegion(origin=origin, size=BYTES, cached=False))
        for image, manager in self.images.items():
            soc.bus.add_master(f"{name}_{image}", manager)
{%- endif %}
        if soc.irq.enabled:
            soc.irq.add(name, use_loc_if_exists=True)
