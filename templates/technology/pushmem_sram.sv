// SRAM wrapper: chooses the memory of a tile by its shape. Ports and timing are those of the model it stands for.
//
// Parameters: Width of a row in bits; Depth in rows; ReadPorts and WritePorts; Latency of a read, 1 or 2 cycles.
// Timing: with `enable_i`, a write in one cycle is seen by reads from the next cycle on, and a read in one cycle shows
// its row Latency enabled cycles later and holds it until the next read's row. Without, nothing changes.
module pushmem_sram #(
    parameter  int unsigned Width       = 64,
    parameter  int unsigned Depth       = 512,
    parameter  int unsigned ReadPorts   = 1,
    parameter  int unsigned WritePorts  = 1,
    parameter  int unsigned Latency     = 1,
    localparam int unsigned AddressBits = $clog2(Depth)
) (
    input  logic                                  clk_i,
    input  logic                                  enable_i,
    input  logic [WritePorts-1:0]                 write_i,
    input  logic [(WritePorts * AddressBits)-1:0] write_address_i,
    input  logic [(WritePorts * Width)-1:0]       write_row_i,
    input  logic [ReadPorts-1:0]                  read_i,
    input  logic [(ReadPorts * AddressBits)-1:0]  read_address_i,
    output logic [(ReadPorts * Width)-1:0]        read_row_o
);
{%- for assembly in assemblies %}
{%- let memory = assembly.memory %}
    {% if loop.first %}{% else %}end else {% endif %}if (Width == {{ memory.width }} && Depth == {{ memory.depth }} && ReadPorts == {{ memory.reads }} && WritePorts  == {{ memory.writes }} && Latency == {{ memory.latency }}) begin : gen_{{ memory.name }}
        {{ memory.name }} u_memory (
            .clk_i           (clk_i),
            .enable_i        (enable_i),
            .write_i         (write_i),
            .write_address_i (write_address_i),
            .write_row_i     (write_row_i),
            .read_i          (read_i),
            .read_address_i  (read_address_i),
            .read_row_o      (read_row_o)
        );
{%- endfor %}
    end else begin : gen_missing
        $error("no memory of this shape is bound");
    end
endmodule
