// SRAM wrapper: chooses the memory of a tile by its shape. Ports and timing are those of the model it stands for.
//
// Parameters: WIDTH of a row in bits; DEPTH in rows; READ_PORTS and WRITE_PORTS; LATENCY of a read, 1 or 2 cycles.
// Timing: with `enable`, a write in one cycle is seen by reads from the next cycle on, and a read in one cycle shows
// its row LATENCY enabled cycles later and holds it until the next read's row. Without, nothing changes.
module pushmem_sram #(
    parameter  int unsigned WIDTH        = 64,
    parameter  int unsigned DEPTH        = 512,
    parameter  int unsigned READ_PORTS   = 1,
    parameter  int unsigned WRITE_PORTS  = 1,
    parameter  int unsigned LATENCY      = 1,
    localparam int unsigned ADDRESS_BITS = $clog2(DEPTH)
) (
    input  logic                                    clk,
    input  logic                                    enable,
    input  logic [WRITE_PORTS-1:0]                  write,
    input  logic [(WRITE_PORTS * ADDRESS_BITS)-1:0] write_address,
    input  logic [(WRITE_PORTS * WIDTH)-1:0]        write_row,
    input  logic [READ_PORTS-1:0]                   read,
    input  logic [(READ_PORTS * ADDRESS_BITS)-1:0]  read_address,
    output logic [(READ_PORTS * WIDTH)-1:0]         read_row
);
{%- for assembly in assemblies %}
{%- let memory = assembly.memory %}
    {% if loop.first %}{% else %}end else {% endif %}if (WIDTH == {{ memory.width }} && DEPTH == {{ memory.depth }} && READ_PORTS == {{ memory.reads }} && WRITE_PORTS == {{ memory.writes }} && LATENCY == {{ memory.latency }}) begin : g_{{ memory.name }}
        {{ memory.name }} u_memory (
            .clk           (clk),
            .enable        (enable),
            .write         (write),
            .write_address (write_address),
            .write_row     (write_row),
            .read          (read),
            .read_address  (read_address),
            .read_row      (read_row)
        );
{%- endfor %}
    end else begin : g_missing
        $error("no memory of this shape is bound");
    end
endmodule
