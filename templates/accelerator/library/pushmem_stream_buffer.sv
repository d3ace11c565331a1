// Stream buffer: two words between a stream outside and the accelerator, so that neither side waits for the other within
// a cycle.
//
// Parameters: WIDTH of a beat.
// Timing: a beat passes on a side in each cycle in which `valid` and `ready` of the side are both high. All outputs come
// from registers. A beat that enters may leave from the next cycle on, and beats pass at one a cycle.
module pushmem_stream_buffer #(
    parameter int unsigned WIDTH = 16
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
    // The first beat is the older one.
    logic             first_valid_q;
    logic             second_valid_q;
    logic [WIDTH-1:0] first_q;
    logic [WIDTH-1:0] second_q;

    always_comb in_ready  = !second_valid_q;
    always_comb out_valid = first_valid_q;
    always_comb out_data  = first_q;

    logic enters;
    logic leaves;
    always_comb enters = in_valid && in_ready;
    always_comb leaves = out_valid && out_ready;

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            first_valid_q  <= 1'b0;
            second_valid_q <= 1'b0;
        end else begin
            first_valid_q  <= enters || second_valid_q || (first_valid_q && !leaves);
            second_valid_q <= first_valid_q && !leaves && (enters || second_valid_q);
        end
    end

    always_ff @(posedge clk) begin
        if (enters) begin
            second_q <= in_data;
        end
        if (leaves || !first_valid_q) begin
            first_q <= second_valid_q ? second_q : in_data;
        end
    end

`ifndef SYNTHESIS
    // What was offered in the cycle before and not taken.
    logic             waits_q;
    logic [WIDTH-1:0] waiting_q;
    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            waits_q <= 1'b0;
        end else begin
            // A beat that is offered stays until it is taken, or it would be lost. No concurrent assertion: Verilator 5.006
            // cannot sample the beats of wide streams.
            a_beat_waits: assert (waits_q !== 1'b1 || (in_valid && in_data == waiting_q))
                else $error("pushmem_stream_buffer: a beat that was not yet taken went away");
            waits_q <= in_valid && !in_ready;
        end
    end
    always_ff @(posedge clk) begin
        waiting_q <= in_data;
    end
`endif
endmodule
