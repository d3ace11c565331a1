// Proof of the AXI4 subordinate of the rows of a global buffer, for any bursts, paces and answers: a response that is offered stays, with what it
// says, until it is taken; each write burst gets one response, and each beat of a read burst one; no queue is given more than it has room for; reads
// and writes never have the buffer in the same cycle; and no output of a channel depends on an input of the same cycle: all come from registers.
module axi_rows_proof #(
    parameter int unsigned Latency = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic        awvalid_i,
    input logic        awid_i,
    input logic [3:0]  awaddr_i,
    input logic [7:0]  awlen_i,
    input logic [2:0]  awsize_i,
    input logic [1:0]  awburst_i,
    input logic        wvalid_i,
    input logic [63:0] wdata_i,
    input logic [7:0]  wstrb_i,
    input logic        wlast_i,
    input logic        bready_i,
    input logic        arvalid_i,
    input logic        arid_i,
    input logic [3:0]  araddr_i,
    input logic [7:0]  arlen_i,
    input logic [2:0]  arsize_i,
    input logic [1:0]  arburst_i,
    input logic        rready_i,
    input logic [63:0] data_i,
    input logic        error_i
);
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic        bid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic        rid;
    logic [63:0] rdata;
    logic [1:0]  rresp;
    logic        rlast;
    logic [3:0]  write;
    logic        read;
    logic [31:0] address;
    logic [63:0] data;
    pushmem_axi_rows #(.AddressBits(4), .IdBits(1), .Words(4), .Latency(Latency), .Bursts(1)) u_subordinate (
        .clk_i, .rst_ni, .awvalid_i, .awready_o(awready), .awid_i, .awaddr_i, .awlen_i, .awsize_i, .awburst_i, .wvalid_i,
        .wready_o(wready), .wdata_i, .wstrb_i, .wlast_i, .bvalid_o(bvalid), .bready_i, .bid_o(bid), .bresp_o(bresp), .arvalid_i,
        .arready_o(arready), .arid_i, .araddr_i, .arlen_i, .arsize_i, .arburst_i, .rvalid_o(rvalid), .rready_i, .rid_o(rid),
        .rdata_o(rdata), .rresp_o(rresp), .rlast_o(rlast), .write_o(write), .read_o(read), .address_o(address), .data_o(data),
        .data_i, .error_i
    );

    // Responses that are owed: of write bursts, and of beats of read bursts. And the response that was offered in the cycle before and not taken.
    logic        first_q = 1'b1;
    logic [3:0]  writes_q;
    logic [10:0] reads_q;
    logic        bwaits_q;
    logic        rwaits_q;
    logic [2:0]  b_q;
    logic [67:0] r_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            writes_q <= '0;
            reads_q  <= '0;
            bwaits_q <= 1'b0;
            rwaits_q <= 1'b0;
        end else begin
            writes_q <= writes_q + 4'(awvalid_i && awready) - 4'(bvalid && bready_i);
            reads_q  <= reads_q + (arvalid_i && arready ? 11'(arlen_i) + 11'd1 : 11'd0) - 11'(rvalid && rready_i);
            bwaits_q <= bvalid && !bready_i;
            rwaits_q <= rvalid && !rready_i;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        b_q     <= {bid, bresp};
        r_q     <= {rid, rresp, rlast, rdata};
    end

    // Beats in the module: those on their way, and those that are left of a burst.
    logic [3:0]  writes_on_way;
    logic [3:0]  reads_on_way;
    logic [3:0]  write_bursts;
    logic [10:0] read_beats;
    always_comb begin
        writes_on_way = '0;
        reads_on_way  = '0;
        for (int stage = 0; stage < Latency; stage++) begin
            if (u_subordinate.valid_q[stage]) begin
                writes_on_way += 4'(u_subordinate.write_q[stage] && u_subordinate.what_q[stage][1]);
                reads_on_way += 4'(!u_subordinate.write_q[stage]);
            end
        end
        write_bursts = 4'(!u_subordinate.u_writes.empty) + 4'(u_subordinate.u_writes.valid_q);
        read_beats   = (u_subordinate.u_reads.empty ? 11'd0 : 11'(u_subordinate.u_reads.waiting[12:5]) + 11'd1)
            + (u_subordinate.u_reads.valid_q ? 11'(u_subordinate.u_reads.left_q) + 11'd1 : 11'd0);
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
            assert (4'(u_subordinate.bursts_q) == writes_on_way + 4'(u_subordinate.u_responses.count_q));
            assert (4'(u_subordinate.reads_q) == reads_on_way + 4'(u_subordinate.u_rows.count_q));
            assert (u_subordinate.bursts_q <= 1'd1 && u_subordinate.u_responses.count_q <= 1'd1);
            assert (4'(u_subordinate.reads_q) <= 4'(Latency + 3));
            assert (u_subordinate.u_data.count_q <= 3'd4);

            assert (writes_q == write_bursts + 4'(u_subordinate.bursts_q) + 4'(bvalid));
            assert (reads_q == read_beats + 11'(u_subordinate.reads_q) + 11'(rvalid));
            if (bwaits_q) assert (bvalid && {bid, bresp} == b_q);
            if (rwaits_q) assert (rvalid && {rid, rresp, rlast, rdata} == r_q);
            assert (!(read && write != '0));
            assert (!(u_subordinate.u_responses.push_i && u_subordinate.u_responses.full_o));
            assert (!(u_subordinate.u_rows.push_i && u_subordinate.u_rows.full_o));
            assert (!(u_subordinate.u_data.push_i && u_subordinate.u_data.full_o));
            assert (address[2:0] == 3'd0);
            assert (!bresp[0] && !rresp[0]);
        end
    end

    // Whatever inputs are in a cycle, channels show what registers have.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (awready == !u_subordinate.u_writes.full && arready == !u_subordinate.u_reads.full);
            assert (wready == (u_subordinate.u_data.count_q != 3'd4));
            assert (bvalid == u_subordinate.bvalid_q && rvalid == u_subordinate.rvalid_q);
        end
    end
endmodule
