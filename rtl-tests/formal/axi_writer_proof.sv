// Proof of the writer of an image, for any address, memory and pace: an address, and a beat of data, that is offered stays until it
// is taken; no burst crosses a boundary of 4 kB; data are offered only of bursts that are whole, each with its last beat marked;
// queues never overflow; the stream has no more beats than a run; and a writer that is idle has nothing on its way.
module axi_writer_proof #(
    parameter int unsigned WordBytes = 2,
    parameter int unsigned Lanes = 1
) (
    input logic                clk_i,
    input logic                rst_ni,
    input logic                start_i,
    input logic                stop_i,
    input logic [12:0]         address_i,
    input logic [12:0]         stride_i,
    input logic                awready_i,
    input logic                wready_i,
    input logic                bvalid_i,
    input logic [1:0]          bresp_i,
    input logic                valid_i,
    input logic [8*WordBytes*Lanes-1:0] data_i
);
    localparam int unsigned Writes = 2;
    localparam int unsigned BurstBeats = 2;
    localparam int unsigned Beats = 24 / WordBytes / Lanes;
    logic        error;
    logic        decode;
    logic        idle;
    logic        awvalid;
    logic [12:0] awaddr;
    logic [7:0]  awlen;
    logic        wvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        wlast;
    logic        bready;
    logic        ready;
    pushmem_axi_writer #(
        .Bytes(4), .BurstBeats(BurstBeats), .WordBytes(WordBytes), .AddressBits(13), .Levels(1), .CountBits(1), .LineBits(6), .Lasts(1'd1), .Sizes({6'd24, 6'd12}),
        .Lanes(Lanes), .Beats(64'(Beats)), .Writes(Writes)
    ) u_writer (
        .clk_i, .rst_ni, .start_i, .stop_i, .address_i, .strides_i(stride_i), .error_o(error), .decode_o(decode), .idle_o(idle),
        .awvalid_o(awvalid), .awready_i, .awaddr_o(awaddr), .awlen_o(awlen), .wvalid_o(wvalid), .wready_i, .wdata_o(wdata),
        .wstrb_o(wstrb), .wlast_o(wlast), .bvalid_i, .bready_o(bready), .bresp_i, .valid_i, .ready_o(ready), .data_i
    );

    // Bursts that memory has whole, and did not answer: of those whose last beat was taken.
    logic        first_q = 1'b1;
    logic        awwaits_q;
    logic [20:0] burst_q;
    logic        wwaits_q;
    logic [36:0] beat_q;
    logic [1:0]  sent_q;
    logic        stopped_q;
    logic [5:0]  words_q;
    logic        ends;
    assign ends = wvalid && wready_i && wlast;
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            awwaits_q <= 1'b0;
            wwaits_q  <= 1'b0;
            sent_q    <= '0;
            stopped_q <= 1'b0;
            words_q   <= 6'(Beats * Lanes);
        end else begin
            awwaits_q <= awvalid && !awready_i;
            wwaits_q  <= wvalid && !wready_i;
            sent_q    <= sent_q + 2'(ends) - 2'(bvalid_i);
            stopped_q <= stop_i && !start_i;
            if (start_i) words_q <= '0;
            else if (u_writer.makes) words_q <= words_q + 6'(u_writer.words);
        end
    end
    always_ff @(posedge clk_i) begin
        burst_q <= {awaddr, awlen};
        beat_q  <= {wdata, wstrb, wlast};
    end

    // The beats in the queue: those of whole bursts, and then those that were made of the next one. Helping invariants make the
    // proof inductive. They are proved with the rest.
    logic [3:0] held;
    logic [3:0] lasts;
    logic [3:0] whole;
    logic [1:0] asks;
    assign held  = 4'(u_writer.u_beats.count_q);
    assign whole = 4'(u_writer.whole_q);
    assign asks  = u_writer.u_addresses.count_q;
    always_comb begin
        lasts = '0;
        for (int unsigned k = 0; k < 4; k++) begin
            if (k < 32'(held) && u_writer.u_beats.entries[2'(k) + u_writer.u_beats.first_q][0]) lasts = lasts + 4'd1;
        end
    end
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (held <= 4'd4 && 2'(u_writer.u_beats.next_q - u_writer.u_beats.first_q) == held[1:0]);
            assert (asks <= 2'd2 && (u_writer.u_addresses.next_q ^ u_writer.u_addresses.first_q) == asks[0]);
            assert (held == whole + 4'(u_writer.made_q) && u_writer.made_q < 8'(BurstBeats));
            // Whole bursts end with their last beat, and there is none after them.
            assert (lasts + 4'(sent_q) == 4'(u_writer.on_way_q));
            for (int unsigned k = 0; k < 4; k++) begin
                if (k + 1 == 32'(whole)) assert (u_writer.u_beats.entries[2'(k) + u_writer.u_beats.first_q][0]);
                if (k >= 32'(whole) && k < 32'(held)) assert (!u_writer.u_beats.entries[2'(k) + u_writer.u_beats.first_q][0]);
            end
            assert (u_writer.on_way_q <= 2'(Writes) && asks <= u_writer.on_way_q);
            assert (32'(u_writer.count_q) <= u_writer.Room && 32'(u_writer.taken_q) <= Beats);
            // No word is lost or goes twice.
            if (!stopped_q) assert (6'(u_writer.taken_q) * 6'(Lanes) == words_q + 6'(u_writer.count_q));
            assert (!u_writer.u_bursts.line_q || u_writer.u_bursts.size_q == 6'd12 || u_writer.u_bursts.size_q == 6'd24);
            if (u_writer.u_bursts.busy_q && u_writer.u_bursts.left_q == '0) assert (u_writer.u_bursts.end_q >= u_writer.u_bursts.first_q);
            if (u_writer.made_q != '0 && u_writer.u_bursts.busy_q) assert (u_writer.made_q <= u_writer.burst_beats);
            if (u_writer.made_q != '0 && !u_writer.u_bursts.busy_q) assert (stopped_q);
            for (int unsigned k = 0; k < 2; k++) begin
                if (k < 32'(asks)) begin
                    assert (u_writer.u_addresses.entries[1'(k) + u_writer.u_addresses.first_q][9:8] == '0);
                    assert (14'(u_writer.u_addresses.entries[1'(k) + u_writer.u_addresses.first_q][19:8])
                            + (14'(u_writer.u_addresses.entries[1'(k) + u_writer.u_addresses.first_q][7:0]) + 14'd1) * 14'd4 <= 14'd4096);
                end
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset; a run starts when the one before is over; a stop lasts until then; memory answers a
        // burst after its last beat and its address; words of two bytes are at even addresses.
        assume (!(first_q && rst_ni));
        assume (!(start_i && !idle));
        assume (!stopped_q || stop_i);
        assume (!(bvalid_i && (sent_q == '0 || u_writer.on_way_q == asks)));
        assume (WordBytes == 1 || !address_i[0] && !stride_i[0]);
        if (rst_ni && !first_q) begin
            assert (bready);
            if (awwaits_q) assert (awvalid && {awaddr, awlen} == burst_q);
            if (wwaits_q) assert (wvalid && {wdata, wstrb, wlast} == beat_q);
            if (awvalid) assert (awaddr[1:0] == '0 && 14'(awaddr[11:0]) + (14'(awlen) + 14'd1) * 14'd4 <= 14'd4096);
            if (wvalid) assert (held != '0 && lasts != '0);
            if (u_writer.makes) assert (held < 4'd4);
            if (u_writer.commits) assert (asks < 2'd2);
            if (idle) assert (!awvalid && !wvalid && !ready && u_writer.on_way_q == '0);
            assert (error == (bvalid_i && bresp_i[1]) && decode == (bvalid_i && bresp_i == 2'b11));
        end
    end
endmodule
