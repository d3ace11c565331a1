// Proof of the stream into an array, for any schedule and whatever comes: every cycle in which the array's time goes on was
// decided before; a beat that is due has come; no beat comes into a full buffer. That of array_buffer shows that none is lost.
//
// Its surroundings are those of an array: a request stops time Latency cycles later, others may ask for a stop as well, and
// time stands still for Latency cycles after a flush, and while a bitstream is loaded, which clears the buffers.
module stream_in_proof #(
    parameter int unsigned Latency = 2,
    parameter int unsigned Depth   = 4,
    localparam int unsigned CountBits = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic clear_i,
    input logic other_i,
    input logic valid_i,
    input logic beat_i,
    input logic extents_i,
    input logic [1:0] start_i,
    input logic [1:0] gaps_i
);
    logic ready;
    logic beat;
    logic due;
    logic request;
    logic stall;
    pushmem_stream_in #(
        .Width(1), .Depth(Depth), .Latency(Latency), .Levels(1), .ExtentBits(1), .CycleBits(2)
    ) u_stream (
        .clk_i, .rst_ni, .flush_i, .stall_i(stall), .clear_i, .enable_i(1'b1), .extents_i, .start_i, .gaps_i, .valid_i, .beat_i,
        .ready_o(ready), .beat_o(beat), .due_o(due), .request_o(request)
    );

    // The stops on their way, the newest lowest.
    logic               first_q = 1'b1;
    logic [Latency-1:0] stops_q;
    always_comb stall = stops_q[Latency-1];
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) stops_q <= '1;
        else if (flush_i || clear_i) stops_q <= '1;
        else stops_q <= Latency'({stops_q, request || other_i});
    end
    always_ff @(posedge clk_i) first_q <= 1'b0;

    // The cycles of the next Latency in which time goes on, and those of the decided ones with a beat.
    logic [3:0] free;
    logic [3:0] beats;
    always_comb begin
        free  = '0;
        beats = '0;
        for (int cycle = 0; cycle < Latency; cycle++) free = free + 4'(!stops_q[cycle]);
        for (int cycle = 0; cycle <= Latency; cycle++) beats = beats + 4'(u_stream.due_q[cycle]);
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (4'(u_stream.decided_q) <= 4'(Latency + 1));
            assert (4'(u_stream.decided_q) >= free);
            assert (4'(u_stream.taken_q) == beats);
            assert (u_stream.taken_q <= u_stream.u_buffer.count_q);
        end
    end
    for (genvar cycle = 0; cycle <= Latency; cycle++) begin : gen_cycle
        always_comb if (rst_ni && !first_q && cycle >= u_stream.decided_q) assert (!u_stream.due_q[cycle]);
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (stall || u_stream.decided_q != '0);
            assert (!due || u_stream.u_buffer.count_q != '0);
            assert (u_stream.u_buffer.count_q <= CountBits'(Depth));
            assert (!ready || u_stream.u_buffer.count_q < CountBits'(Depth));
        end
    end
endmodule
