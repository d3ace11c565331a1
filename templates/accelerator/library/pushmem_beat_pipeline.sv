// Beat pipeline: registers behind the buffer of an input stream, as many as the stall has.
//
// Parameters: Width of a beat; Latency, the number of registers, at least 1.
// Timing: the beat on `in_data_i` in a cycle with `take_i` is on `out_data_o` Latency cycles later, until the next one comes.
// The data have no reset: a beat is read only when it has come all the way.
module pushmem_beat_pipeline #(
    parameter int unsigned Width   = 16,
    parameter int unsigned Latency = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             take_i,
    input  logic [Width-1:0] in_data_i,
    output logic [Width-1:0] out_data_o
);
    // Whether a beat enters each register.
    logic [Latency-1:0] enters;

    if (Latency == 1) begin : g_register
        always_comb enters = take_i;
        // Only longer pipelines have a state.
        logic reset_unused;
        always_comb reset_unused = rst_ni;
    end else begin : g_registers
        logic [Latency-2:0] taken_q;
        always_comb enters = {taken_q, take_i};
        always_ff @(posedge clk_i, negedge rst_ni) begin
            if (!rst_ni) begin
                taken_q <= '0;
            end else begin
                taken_q <= enters[Latency-2:0];
            end
        end
    end

    for (genvar stage = 0; stage < Latency; stage++) begin : g_stage
        logic [Width-1:0] beat_q;
        if (stage == 0) begin : g_first
            always_ff @(posedge clk_i) begin
                if (enters[0]) begin
                    beat_q <= in_data_i;
                end
            end
        end else begin : g_next
            always_ff @(posedge clk_i) begin
                if (enters[stage]) begin
                    beat_q <= g_stage[stage-1].beat_q;
                end
            end
        end
    end

    always_comb out_data_o = g_stage[Latency-1].beat_q;

    // Parameters that make no sense end the elaboration.
    if (Latency == 0 || Width == 0) begin : g_bad_shape
        $error("pushmem_beat_pipeline: Latency and Width are at least 1");
    end
endmodule
