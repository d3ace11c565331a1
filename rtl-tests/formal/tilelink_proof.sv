// Proof of the TileLink-UL subordinate, for any order and pace of requests and answers, and for requests that go away: an answer that is
// offered stays, with what it says, until it is taken; each request that is taken gets one answer, in order, with its own size and source; those
// that registers can do reach them once, with their own address, data and mask, which stay until the answer, and others never do; and no
// output of a channel depends on an input of the same cycle: all are those of a reference of registers alone.
module tilelink_proof #(
    parameter int unsigned AddressBits = 3
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                   a_valid_i,
    input logic [2:0]             a_opcode_i,
    input logic [2:0]             a_param_i,
    input logic [1:0]             a_size_i,
    input logic [1:0]             a_source_i,
    input logic [AddressBits-1:0] a_address_i,
    input logic [3:0]             a_mask_i,
    input logic [31:0]            a_data_i,
    input logic                   a_corrupt_i,
    input logic                   d_ready_i,
    input logic                   answer_i,
    input logic                   error_i,
    input logic [31:0]            data_i
);
    localparam int unsigned AnswerBits = 3 + 2 + 2 + 2 + 1 + 1 + 32 + 1;
    logic                   a_ready;
    logic                   d_valid;
    logic [2:0]             d_opcode;
    logic [1:0]             d_param;
    logic [1:0]             d_size;
    logic [1:0]             d_source;
    logic                   d_sink;
    logic                   d_denied;
    logic [31:0]            d_data;
    logic                   d_corrupt;
    logic                   request;
    logic                   write;
    logic [AddressBits-1:0] address;
    logic [31:0]            data;
    logic [3:0]             strobes;
    pushmem_tilelink #(.AddressBits(AddressBits), .SourceBits(2)) u_tilelink (
        .clk_i, .rst_ni, .a_valid_i, .a_ready_o(a_ready), .a_opcode_i, .a_param_i, .a_size_i, .a_source_i, .a_address_i, .a_mask_i,
        .a_data_i, .a_corrupt_i, .d_valid_o(d_valid), .d_ready_i, .d_opcode_o(d_opcode), .d_param_o(d_param), .d_size_o(d_size),
        .d_source_o(d_source), .d_sink_o(d_sink), .d_denied_o(d_denied), .d_data_o(d_data), .d_corrupt_o(d_corrupt),
        .request_o(request), .write_o(write), .address_o(address), .data_o(data), .strobes_o(strobes), .answer_i, .error_i, .data_i
    );
    logic [AnswerBits-1:0] shown;
    assign shown = {d_opcode, d_param, d_size, d_source, d_sink, d_denied, d_data, d_corrupt};

    // The request that was taken and not answered, whether registers work on it, and the answer that was not taken.
    logic                   first_q = 1'b1;
    logic                   taken_q;
    logic                   works_q;
    logic                   answer_q;
    logic [2:0]             opcode_q;
    logic [2:0]             param_q;
    logic [1:0]             size_q;
    logic [1:0]             source_q;
    logic [AddressBits-1:0] address_q;
    logic [3:0]             mask_q;
    logic [31:0]            data_q;
    logic                   corrupt_q;
    logic [AnswerBits-1:0]  shown_q;

    logic is_get;
    logic is_legal;
    logic can;
    logic done;
    logic denied;
    always_comb begin
        is_get   = opcode_q == 3'd4;
        is_legal = param_q == 3'd0 && !corrupt_q && (is_get || opcode_q < 3'd2 && size_q == 2'd2);
        if (size_q == 2'd1 && address_q[0] || size_q == 2'd2 && address_q[1:0] != 2'd0 || size_q == 2'd3) is_legal = 1'b0;
        can    = taken_q && !answer_q;
        done   = can && (!is_legal || answer_i);
        denied = !is_legal || error_i;
    end
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            {taken_q, works_q, answer_q} <= '0;
        end else begin
            if (a_valid_i && a_ready) taken_q <= 1'b1;
            if (d_valid && d_ready_i) answer_q <= 1'b0;
            works_q <= can && is_legal && !done;
            if (done) {taken_q, answer_q} <= 2'b01;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (a_valid_i && a_ready) begin
            {opcode_q, param_q, size_q, source_q} <= {a_opcode_i, a_param_i, a_size_i, a_source_i};
            {address_q, mask_q, data_q, corrupt_q} <= {a_address_i, a_mask_i, a_data_i, a_corrupt_i};
        end
        if (done) shown_q <= {2'd0, is_get, 2'd0, size_q, source_q, 1'b0, denied, is_legal ? data_i : 32'd0, denied && is_get};
    end

    // The answer that was offered in the cycle before and not taken.
    logic                  waits_q;
    logic [AnswerBits-1:0] waiting_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= d_valid && !d_ready_i;
    end
    always_ff @(posedge clk_i) waiting_q <= shown;

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (u_tilelink.works_q == works_q);
            if (taken_q) begin
                assert ({u_tilelink.get_q, u_tilelink.legal_q} == {is_get, is_legal});
                assert ({u_tilelink.size_q, u_tilelink.source_q} == {size_q, source_q});
                assert (u_tilelink.word_q == address_q[AddressBits-1:2]);
                assert ({u_tilelink.strobes_q, u_tilelink.data_q} == {mask_q, data_q});
            end
            if (works_q) assert (can && is_legal);
            if (waits_q) assert (answer_q && waiting_q == shown_q);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        // Registers answer accesses only.
        assume (!answer_i || request || works_q);
        if (rst_ni && !first_q) begin
            assert (a_ready == !taken_q);
            assert (d_valid == answer_q);
            if (d_valid) assert (shown == shown_q);
            if (waits_q) assert (d_valid && shown == waiting_q);
            assert (request == (can && is_legal && !works_q));
            if (request || works_q) begin
                assert (write == !is_get && address == {address_q[AddressBits-1:2], 2'd0});
                if (write) assert ({data, strobes} == {data_q, mask_q});
            end
        end
    end
endmodule
