// Stream buffer: two words between a stream outside and the accelerator, so that neither side waits for the other
// within a cycle.
//
// Parameters: Width of a beat.
// Timing: a beat passes on a side in each cycle in which `valid` and `ready` of the side are both high. All outputs
// come from registers. A beat that enters may leave from the next cycle on, and beats pass at one a cycle.
`include "pushmem_assert.svh"

module pushmem_stream_buffer #(
    parameter int unsigned Width = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
    // The first beat is the older one.
    logic             first_valid_q;
    logic             second_valid_q;
    logic [Width-1:0] first_q;
    logic [Width-1:0] second_q;

    always_comb in_ready_o  = !second_valid_q;
    always_comb out_valid_o = first_valid_q;
    always_comb out_data_o  = first_q;

    logic enters;
    logic leaves;
    always_comb enters = in_valid_i && in_ready_o;
    always_comb leaves = out_valid_o && out_ready_i;

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            first_valid_q  <= 1'b0;
            second_valid_q <= 1'b0;
        end else begin
            first_valid_q  <= enters || second_valid_q || (first_valid_q && !leaves);
            second_valid_q <= first_valid_q && !leaves && (enters || second_valid_q);
        end
    end

    always_ff @(posedge clk_i) begin
        if (enters) begin
            second_q <= in_data_i;
        end
        if (leaves || !first_valid_q) begin
            first_q <= second_valid_q ? second_q : in_data_i;
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Width == 0) begin : gen_bad_width
        $error("pushmem_stream_buffer: Width is at least 1");
    end

`ifndef PUSHMEM_ASSERT_OFF
    // The word that was offered in the cycle before and not taken.
    logic             waits_q;
    logic [Width-1:0] waiting_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            waits_q <= 1'b0;
        end else begin
            // A beat that is offered stays until it is taken, or it would be lost. No concurrent assertion: Verilator
            // 5.006 cannot sample the beats of wide streams.
            `PUSHMEM_ASSERT_NOW(a_beat_waits, waits_q !== 1'b1 || (in_valid_i && in_data_i == waiting_q),
                ("%m: a beat that was not yet taken went away"))
            waits_q <= in_valid_i && !in_ready_o;
        end
    end
    always_ff @(posedge clk_i) begin
        waiting_q <= in_data_i;
    end
`endif
endmodule
