// Skid buffer: an output stream of hardware that hears of a stall some cycles late. It has room for the beats that
// are on their way.
//
// Parameters: Width of a beat; Latency, the cycles from the decision to give a beat to that beat, at least 1.
// Timing: `ready_o` tells that there is room for one more beat. In a cycle with `claim_i` it is given away; the beat
// is on `in_data_i` Latency cycles later. On the other side a beat passes in each cycle in which `out_valid_o` and
// `out_ready_i` are both high. All outputs come from registers. A beat that enters may leave from the next cycle on,
// and beats pass at one a cycle.
`include "pushmem_assert.svh"

module pushmem_skid_buffer #(
    parameter int unsigned Width   = 16,
    parameter int unsigned Latency = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             claim_i,
    output logic             ready_o,
    input  logic [Width-1:0] in_data_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
    // A claim shows in the count in the next cycle, and its place is free again in the cycle after the one in which
    // it leaves.
    localparam int unsigned Depth     = Latency + 2;
    localparam int unsigned CountBits = $clog2(Depth + 1);

    // Beats claimed and not gone, and those of them that are here. The first beat is the oldest.
    logic [CountBits-1:0] claimed_q;
    logic [CountBits-1:0] held_q;
    logic [Latency-1:0]   on_way_q;
    logic [Width-1:0]     beats_q[Depth];

    always_comb ready_o     = claimed_q != CountBits'(Depth);
    always_comb out_valid_o = held_q != '0;
    always_comb out_data_o  = beats_q[0];

    logic                 enters;
    logic                 leaves;
    logic [CountBits-1:0] place;
    always_comb enters = on_way_q[Latency-1];
    always_comb leaves = out_valid_o && out_ready_i;
    always_comb place  = held_q - CountBits'(leaves);

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            on_way_q  <= '0;
            claimed_q <= '0;
            held_q    <= '0;
        end else begin
            on_way_q  <= Latency'({on_way_q, claim_i});
            claimed_q <= claimed_q + CountBits'(claim_i) - CountBits'(leaves);
            held_q    <= held_q + CountBits'(enters) - CountBits'(leaves);
        end
    end

    for (genvar beat = 0; beat < Depth; beat++) begin : gen_beat
        // A beat that leaves is followed by the one after it, if there is one.
        logic [Width-1:0] next;
        if (beat + 1 < Depth) begin : gen_inner
            always_comb next = beats_q[beat+1];
        end else begin : gen_last
            always_comb next = in_data_i;
        end
        always_ff @(posedge clk_i) begin
            if (enters && place == CountBits'(beat)) begin
                beats_q[beat] <= in_data_i;
            end else if (leaves) begin
                beats_q[beat] <= next;
            end
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Latency == 0 || Width == 0) begin : gen_bad_shape
        $error("pushmem_skid_buffer: Latency and Width are at least 1");
    end

    // Room is given away once, or a beat would be lost.
    `PUSHMEM_ASSERT(a_claim_has_room, claim_i !== 1'b1 || ready_o,
        ("%m: a beat is claimed that has no room"))
    `PUSHMEM_ASSERT(a_beat_has_room, enters !== 1'b1 || held_q != CountBits'(Depth),
        ("%m: a beat enters that has no room"))
endmodule
