// Delay line: its output is its input some steps ago, from a memory that is written and read in a circle.
//
// Parameters: Width of a word; Length, the delay in steps, at least 3.
// Timing: with `step_i`, the word on `in_data_i` enters at the end of the cycle; it is on `out_data_o` Length steps
// later. The word that is read is never the one that is written, so that any memory with a write port and a read port
// will do; a register follows it. The contents have no reset: a word is read only when it has come all the way.
module pushmem_delay_line #(
    parameter int unsigned Width  = 16,
    parameter int unsigned Length = 3
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             step_i,
    input  logic [Width-1:0] in_data_i,
    output logic [Width-1:0] out_data_o
);
    localparam int unsigned Words       = Length - 1;
    localparam int unsigned AddressBits = $clog2(Words);

    (* no_rw_check *)
    logic [Width-1:0]       words [Words];
    logic [Width-1:0]       read_q;
    logic [AddressBits-1:0] write_address_q;
    // One word ahead of the one that is written: the oldest.
    logic [AddressBits-1:0] read_address_q;

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            write_address_q <= '0;
            read_address_q  <= AddressBits'(1);
        end else if (step_i) begin
            write_address_q <= read_address_q;
            read_address_q  <= read_address_q == AddressBits'(Words - 1) ? '0 : read_address_q + 1'b1;
        end
    end

    always_ff @(posedge clk_i) begin
        if (step_i) begin
            words[write_address_q] <= in_data_i;
            read_q                 <= words[read_address_q];
            out_data_o             <= read_q;
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Length < 3 || Width == 0) begin : gen_bad_shape
        $error("pushmem_delay_line: Length is at least 3, Width at least 1");
    end
endmodule
