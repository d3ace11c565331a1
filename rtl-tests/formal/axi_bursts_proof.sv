// Proof of the bursts of an image, for any address, any stride and any pace: together they are the words of all lines, in order and
// once; none crosses a boundary of 4 kB or is longer than allowed; and one that is offered stays until it is taken or dropped.
module axi_bursts_proof #(
    parameter int unsigned Bytes      = 4,
    parameter int unsigned BurstBeats = 2,
    parameter int unsigned WordBytes  = 2,
    parameter int unsigned Words      = 3,
    parameter int unsigned Lines      = 3
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        start_i,
    input logic        stop_i,
    input logic [12:0] address_i,
    input logic [12:0] stride_i,
    input logic        ready_i
);
    localparam int unsigned Size     = WordBytes * Words;
    localparam int unsigned LineBits = $clog2(Size * Lines + 1);
    localparam int unsigned ByteBits = $clog2(Bytes);
    localparam int unsigned WordShift = $clog2(WordBytes);
    localparam int unsigned WordBits = ByteBits - WordShift;
    logic        valid;
    logic [12:0] address;
    logic [7:0]  beats;
    logic [WordBits-1:0] first;
    logic [WordBits-1:0] last;
    logic        busy;
    pushmem_axi_bursts #(
        .Bytes(Bytes), .BurstBeats(BurstBeats), .WordBytes(WordBytes), .AddressBits(13), .Levels(1), .CountBits(2), .LineBits(LineBits), .Lasts(2'(Lines - 1)),
        .Sizes({LineBits'(Size * Lines), LineBits'(Size)})
    ) u_bursts (
        .clk_i, .rst_ni, .start_i, .stop_i, .address_i, .strides_i(stride_i), .valid_o(valid), .ready_i, .address_o(address),
        .beats_o(beats), .first_o(first), .last_o(last), .busy_o(busy)
    );

    // Where the next word is, the words that are left of its line, and the lines after it.
    logic        first_q = 1'b1;
    logic        active_q;
    logic [12:0] stride_q;
    logic [12:0] line_q;
    logic [12:0] word_q;
    logic [5:0]  left_q;
    logic [1:0]  after_q;
    logic [5:0]  words;
    logic        joined;
    logic        takes;
    assign words  = 6'(beats) * 6'(Bytes / WordBytes) + 6'(last) - 6'(first) + 6'd1;
    assign joined = stride_i == 13'(Size);
    assign takes  = valid && ready_i;
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            active_q <= 1'b0;
        end else if (start_i) begin
            active_q <= 1'b1;
        end else if (stop_i) begin
            active_q <= 1'b0;
        end else if (takes && left_q == words) begin
            active_q <= after_q != '0;
        end
    end
    always_ff @(posedge clk_i) begin
        if (start_i) begin
            stride_q <= stride_i;
            line_q   <= address_i;
            word_q   <= address_i;
            left_q   <= joined ? 6'(Words * Lines) : 6'(Words);
            after_q  <= joined ? '0 : 2'(Lines - 1);
        end else if (takes && left_q == words) begin
            line_q  <= line_q + stride_q;
            word_q  <= line_q + stride_q;
            left_q  <= 6'(Words);
            after_q <= after_q - 2'd1;
        end else if (takes) begin
            word_q <= word_q + 13'(words) * 13'(WordBytes);
            left_q <= left_q - words;
        end
    end

    // The burst that was offered in the cycle before and not taken.
    logic        waits_q;
    logic [20+2*WordBits:0] burst_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= valid && !ready_i && !stop_i;
    end
    always_ff @(posedge clk_i) burst_q <= {address, beats, first, last};

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q && active_q) begin
            assert (stride_q == u_bursts.strides_q && left_q != '0 && (WordBytes == 1 || !stride_q[0] && !line_q[0]));
            assert (u_bursts.merges_q == (stride_q == 13'(Size)));
            assert (u_bursts.size_q == (stride_q == 13'(Size) ? LineBits'(Size * Lines) : LineBits'(Size)));
            assert (after_q < 2'(Lines) && left_q <= 6'(Words * Lines) && (u_bursts.merges_q || left_q <= 6'(Words)));
            if (u_bursts.merges_q) assert (after_q == '0 && u_bursts.indices_q == '0);
            if (u_bursts.busy_q) begin
                assert (word_q == 13'({u_bursts.beat_q, u_bursts.first_q}) << WordShift);
                assert (16'(left_q) + 16'(u_bursts.first_q) == 16'(u_bursts.left_q) * 16'(Bytes / WordBytes) + 16'(u_bursts.end_q) + 16'd1);
                assert (u_bursts.line_q == (after_q != '0));
                if (u_bursts.line_q) begin
                    assert (u_bursts.begins_q == line_q + stride_q && u_bursts.indices_q == 2'(Lines) - after_q);
                end
            end else begin
                assert (u_bursts.line_q && u_bursts.begins_q == line_q && word_q == line_q);
                assert (7'(left_q) * 7'(WordBytes) == 7'(u_bursts.size_q));
                if (!u_bursts.merges_q) assert (u_bursts.indices_q == 2'(Lines - 1) - after_q);
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset; a run starts when the one before is over, which words are at even addresses.
        assume (!(first_q && rst_ni));
        assume (!(start_i && busy));
        assume (WordBytes == 1 || !address_i[0] && !stride_i[0]);
        if (rst_ni && !first_q) begin
            assert (busy == active_q);
            if (valid) begin
                assert (active_q && word_q == address + (13'(first) << WordShift) && address[ByteBits-1:0] == '0);
                assert (words != '0 && words <= left_q && 32'(beats) < BurstBeats);
                assert (14'(address[11:0]) + (14'(beats) + 14'd1) * 14'(Bytes) <= 14'd4096);
            end
            if (waits_q) assert (valid && {address, beats, first, last} == burst_q);
        end
    end
endmodule
