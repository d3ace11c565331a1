// Proof of the stream out of an array, for any schedule and whatever leaves: a beat of the array always finds room, although
// the stop that it asks for comes Latency cycles later. That of array_buffer shows that none is lost. A beat that is offered
// stays until it is taken.
module stream_out_proof #(
    parameter int unsigned Latency = 2,
    parameter int unsigned Depth   = 4,
    localparam int unsigned CountBits = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic other_i,
    input logic beat_i,
    input logic ready_i,
    input logic extents_i,
    input logic [1:0] start_i,
    input logic [1:0] gaps_i
);
    logic valid;
    logic beat;
    logic request;
    logic stall;
    pushmem_stream_out #(
        .Width(1), .Depth(Depth), .Latency(Latency), .Levels(1), .ExtentBits(1), .CycleBits(2)
    ) u_stream (
        .clk_i, .rst_ni, .flush_i, .stall_i(stall), .clear_i(1'b0), .enable_i(1'b1), .extents_i, .start_i, .gaps_i, .beat_i,
        .request_o(request), .valid_o(valid), .beat_o(beat), .ready_i
    );

    // The stops on their way, the newest lowest.
    logic               first_q = 1'b1;
    logic [Latency-1:0] stops_q;
    always_comb stall = stops_q[Latency-1];
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) stops_q <= '1;
        else stops_q <= Latency'({stops_q, request || other_i});
    end

    // The beat that was offered in the cycle before and not taken.
    logic waits_q;
    logic waiting_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= valid && !ready_i;
    end
    always_ff @(posedge clk_i) begin
        first_q   <= 1'b0;
        waiting_q <= beat;
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest. Room is left
    // for the cycles of the next Latency in which time goes on.
    logic [3:0] free;
    logic [3:0] count;
    always_comb begin
        free  = '0;
        count = 4'(u_stream.u_buffer.count_q);
        for (int cycle = 0; cycle < Latency; cycle++) free = free + 4'(!stops_q[cycle]);
        if (rst_ni && !first_q) begin
            assert (count + free <= 4'(Depth));
            assert (4'(u_stream.u_buffer.read_q) < 4'(Depth) && 4'(u_stream.u_buffer.write_q) < 4'(Depth));
            assert ((4'(u_stream.u_buffer.read_q) + count) % 4'(Depth) == 4'(u_stream.u_buffer.write_q));
            if (waits_q) assert (count != '0 && u_stream.u_buffer.beats[u_stream.u_buffer.read_q] == waiting_q);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (count <= 4'(Depth));
            assert (!(u_stream.fire && !stall) || count < 4'(Depth));
            if (waits_q) assert (valid && beat == waiting_q);
        end
    end
endmodule
