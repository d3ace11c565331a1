// Proof of the reader of an image, for any address, memory and pace: what it offers, a burst or a beat of the stream, stays until
// it is taken; no burst crosses a boundary of 4 kB; each beat that memory may send has room; the stream has no more beats than a
// run; what it takes from a burst are its words; and a reader that is idle has nothing on its way.
module axi_reader_proof #(
    parameter int unsigned WordBytes = 2,
    parameter int unsigned Lanes = 1
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        start_i,
    input logic        stop_i,
    input logic [12:0] address_i,
    input logic [12:0] stride_i,
    input logic        arready_i,
    input logic        rvalid_i,
    input logic [31:0] rdata_i,
    input logic [1:0]  rresp_i,
    input logic        rlast_i,
    input logic        ready_i
);
    localparam int unsigned Reads = 2;
    localparam int unsigned BurstBeats = 2;
    localparam int unsigned Word = 8 * WordBytes;
    localparam int unsigned Beats = 24 / WordBytes / Lanes;
    logic                error;
    logic                decode;
    logic                idle;
    logic                arvalid;
    logic [12:0]         araddr;
    logic [7:0]          arlen;
    logic                rready;
    logic                valid;
    logic [Word*Lanes-1:0] data;
    pushmem_axi_reader #(
        .Bytes(4), .BurstBeats(BurstBeats), .WordBytes(WordBytes), .AddressBits(13), .Levels(1), .CountBits(1), .LineBits(6), .Lasts(1'd1), .Sizes({6'd24, 6'd12}),
        .Lanes(Lanes), .Beats(64'(Beats)), .Reads(Reads)
    ) u_reader (
        .clk_i, .rst_ni, .start_i, .stop_i, .address_i, .strides_i(stride_i), .error_o(error), .decode_o(decode), .idle_o(idle),
        .arvalid_o(arvalid), .arready_i, .araddr_o(araddr), .arlen_o(arlen), .rvalid_i, .rready_o(rready), .rdata_i, .rresp_i, .rlast_i,
        .valid_o(valid), .ready_i, .data_o(data)
    );

    logic                first_q = 1'b1;
    logic                arwaits_q;
    logic [20:0]         burst_q;
    logic                waits_q;
    logic [Word*Lanes-1:0] data_q;
    logic [4:0]          passed_q;
    logic                stopped_q;
    logic [5:0]          popped_q;
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            arwaits_q <= 1'b0;
            waits_q   <= 1'b0;
            passed_q  <= 5'(Beats);
            stopped_q <= 1'b0;
            popped_q  <= 6'(Beats * Lanes);
        end else begin
            arwaits_q <= arvalid && !arready_i;
            waits_q   <= valid && !ready_i;
            if (start_i) passed_q <= '0;
            else if (valid && ready_i) passed_q <= passed_q + 5'd1;
            stopped_q <= stop_i && !start_i;
            if (start_i) popped_q <= '0;
            else if (u_reader.pops) popped_q <= popped_q + 6'(u_reader.beat_last) - 6'(u_reader.beat_first) + 6'd1;
        end
    end
    always_ff @(posedge clk_i) begin
        burst_q <= {araddr, arlen};
        data_q  <= data;
    end

    // Beats on their way, by the queues: helping invariants make the proof inductive. They are proved with the rest.
    localparam int unsigned W = 2 - $clog2(WordBytes);
    logic [1:0] on_way;
    logic [7:0] head;
    logic [7:0] tail;
    logic [3:0] expected;
    logic [3:0] held;
    assign on_way   = u_reader.u_on_way.count_q;
    assign held     = 4'(u_reader.u_beats.count_q);
    assign head     = u_reader.u_on_way.entries[u_reader.u_on_way.first_q][2*W+7:2*W];
    assign tail     = u_reader.u_on_way.entries[~u_reader.u_on_way.first_q][2*W+7:2*W];
    assign expected = (on_way != '0 ? 4'(head) + 4'd1 : '0) + (on_way == 2'd2 ? 4'(tail) + 4'd1 : '0) - 4'(u_reader.arrived_q);
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (on_way <= 2'd2 && (u_reader.u_on_way.next_q ^ u_reader.u_on_way.first_q) == on_way[0]);
            assert (held <= 4'd4 && 2'(u_reader.u_beats.next_q - u_reader.u_beats.first_q) == held[1:0]);
            if (on_way != '0) assert (head < 8'(BurstBeats) && u_reader.arrived_q <= head);
            else assert (u_reader.arrived_q == '0);
            if (on_way == 2'd2) assert (tail < 8'(BurstBeats));
            assert (4'(u_reader.reserved_q) == held + expected && u_reader.reserved_q <= 3'd4);
            assert (5'(u_reader.sent_q) == passed_q && passed_q <= 5'(Beats));
            assert (32'(u_reader.words_q) <= u_reader.Words && 32'(u_reader.count_q) <= u_reader.Room);
            // No word is lost or comes twice.
            if (!stopped_q) assert (popped_q == 6'(u_reader.words_q) + 6'(u_reader.count_q) + 6'(passed_q) * 6'(Lanes));
            // A burst of one beat ends at or after its first word.
            assert (!u_reader.u_bursts.line_q || u_reader.u_bursts.size_q == 6'd12 || u_reader.u_bursts.size_q == 6'd24);
            if (u_reader.u_bursts.busy_q && u_reader.u_bursts.left_q == '0) assert (u_reader.u_bursts.end_q >= u_reader.u_bursts.first_q);
            for (int unsigned k = 0; k < 2; k++) begin
                if (k < 32'(on_way) && u_reader.u_on_way.entries[1'(k) + u_reader.u_on_way.first_q][2*W+7:2*W] == '0) begin
                    assert (u_reader.u_on_way.entries[1'(k) + u_reader.u_on_way.first_q][W-1:0]
                            >= u_reader.u_on_way.entries[1'(k) + u_reader.u_on_way.first_q][2*W-1:W]);
                end
            end
            for (int unsigned k = 0; k < 4; k++) begin
                if (k < 32'(held)) begin
                    assert (u_reader.u_beats.entries[2'(k) + u_reader.u_beats.first_q][W-1:0]
                            >= u_reader.u_beats.entries[2'(k) + u_reader.u_beats.first_q][2*W-1:W]);
                end
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset; a run starts when the one before is over; a stop lasts until then; memory answers
        // what it was asked for; words of two bytes are at even addresses.
        assume (!(first_q && rst_ni));
        assume (!(start_i && !idle));
        assume (!stopped_q || stop_i);
        assume (!(rvalid_i && on_way == '0) && !(rvalid_i && on_way == 2'd1 && arvalid));
        assume (WordBytes == 1 || !address_i[0] && !stride_i[0]);
        if (rst_ni && !first_q) begin
            assert (rready);
            // Its beat has room.
            if (rvalid_i) assert (held < 4'd4);
            if (arwaits_q) assert (arvalid && {araddr, arlen} == burst_q);
            if (waits_q) assert (valid && data == data_q);
            if (valid) assert (passed_q < 5'(Beats));
            if (idle) assert (!arvalid && on_way == '0 && held == '0 && !valid && passed_q == 5'(Beats));
            assert (error == (rvalid_i && (rresp_i[1] || rlast_i != (8'(u_reader.arrived_q) == head))));
            assert (decode == (rvalid_i && rresp_i == 2'b11));
        end
    end

    // A burst as it is asked for: of whole beats, in one page.
    logic asked_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) asked_q <= 1'b0;
        else if (arvalid) asked_q <= 1'b1;
    end
    always_comb begin
        if (rst_ni && !first_q && arvalid) begin
            assert (araddr[1:0] == '0 && 14'(araddr[11:0]) + (14'(arlen) + 14'd1) * 14'd4 <= 14'd4096);
        end
    end
endmodule
