// Proof of the AXI4-Lite subordinate, for any order and pace of accesses and answers: a response that is offered stays, with what
// it says, until it is taken; each write, whose address and data come in any order, and each read reaches the registers once, with
// its own address and data, which stay until the answer, and gets one response, with that answer; a read and a write that both wait
// take turns; and no output of a channel depends on an input of the same cycle: all are those of a reference of registers alone.
module axi_lite_proof #(
    parameter int unsigned AddressBits = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                   awvalid_i,
    input logic [AddressBits-1:0] awaddr_i,
    input logic                   wvalid_i,
    input logic [31:0]            wdata_i,
    input logic [3:0]             wstrb_i,
    input logic                   bready_i,
    input logic                   arvalid_i,
    input logic [AddressBits-1:0] araddr_i,
    input logic                   rready_i,
    input logic                   answer_i,
    input logic                   error_i,
    input logic [31:0]            data_i
);
    logic                   awready;
    logic                   wready;
    logic                   bvalid;
    logic [1:0]             bresp;
    logic                   arready;
    logic                   rvalid;
    logic [1:0]             rresp;
    logic [31:0]            rdata;
    logic                   request;
    logic                   write;
    logic [AddressBits-1:0] address;
    logic [31:0]            data;
    logic [3:0]             strobes;
    pushmem_axi_lite #(.AddressBits(AddressBits)) u_lite (
        .clk_i, .rst_ni, .awvalid_i, .awready_o(awready), .awaddr_i, .wvalid_i, .wready_o(wready), .wdata_i, .wstrb_i,
        .bvalid_o(bvalid), .bready_i, .bresp_o(bresp), .arvalid_i, .arready_o(arready), .araddr_i, .rvalid_o(rvalid), .rready_i,
        .rdata_o(rdata), .rresp_o(rresp), .request_o(request), .write_o(write), .address_o(address), .data_o(data),
        .strobes_o(strobes), .answer_i, .error_i, .data_i
    );

    // Accesses that were taken and not answered, answers that were not taken, and the access that the registers work on.
    logic                   first_q = 1'b1;
    logic                   write_address_q;
    logic                   write_data_q;
    logic                   read_q;
    logic                   write_answer_q;
    logic                   read_answer_q;
    logic                   works_q;
    logic                   last_write_q;
    logic [AddressBits-1:0] awaddr_q;
    logic [AddressBits-1:0] araddr_q;
    logic [31:0]            wdata_q;
    logic [3:0]             wstrb_q;
    logic                   berror_q;
    logic                   rerror_q;
    logic [31:0]            rdata_q;

    logic can_write;
    logic can_read;
    logic want_write;
    logic done;
    always_comb begin
        can_write  = write_address_q && write_data_q && !write_answer_q;
        can_read   = read_q && !read_answer_q;
        want_write = works_q ? last_write_q : can_write && (!can_read || !last_write_q);
        done       = answer_i && (works_q || can_write || can_read);
    end
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            {write_address_q, write_data_q, read_q, write_answer_q, read_answer_q, works_q, last_write_q} <= '0;
        end else begin
            if (awvalid_i && awready) write_address_q <= 1'b1;
            if (wvalid_i && wready) write_data_q <= 1'b1;
            if (arvalid_i && arready) read_q <= 1'b1;
            if (bvalid && bready_i) write_answer_q <= 1'b0;
            if (rvalid && rready_i) read_answer_q <= 1'b0;
            if (can_write || can_read || works_q) begin
                works_q      <= !done;
                last_write_q <= want_write;
            end
            if (done && want_write) {write_address_q, write_data_q, write_answer_q} <= 3'b001;
            if (done && !want_write) {read_q, read_answer_q} <= 2'b01;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (awvalid_i && awready) awaddr_q <= awaddr_i;
        if (wvalid_i && wready) {wdata_q, wstrb_q} <= {wdata_i, wstrb_i};
        if (arvalid_i && arready) araddr_q <= araddr_i;
        if (done && want_write) berror_q <= error_i;
        if (done && !want_write) {rerror_q, rdata_q} <= {error_i, data_i};
    end

    // The response that was offered in the cycle before and not taken.
    logic        bwaits_q;
    logic        rwaits_q;
    logic [1:0]  bresp_q;
    logic [33:0] rword_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            bwaits_q <= 1'b0;
            rwaits_q <= 1'b0;
        end else begin
            bwaits_q <= bvalid && !bready_i;
            rwaits_q <= rvalid && !rready_i;
        end
    end
    always_ff @(posedge clk_i) begin
        bresp_q <= bresp;
        rword_q <= {rresp, rdata};
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (u_lite.works_q == works_q);
            assert (u_lite.write_q == last_write_q);
            if (write_address_q) assert (u_lite.aw_address_q == awaddr_q);
            if (write_data_q) assert ({u_lite.data_q, u_lite.strobes_q} == {wdata_q, wstrb_q});
            if (read_q) assert (u_lite.ar_address_q == araddr_q);
            if (works_q) assert (last_write_q ? can_write : can_read);
            if (bwaits_q) assert (write_answer_q && bresp_q == {berror_q, 1'b0});
            if (rwaits_q) assert (read_answer_q && rword_q == {rerror_q, 1'b0, rdata_q});
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        // Registers answer accesses only.
        assume (!answer_i || request || works_q);
        if (rst_ni && !first_q) begin
            assert (awready == !write_address_q);
            assert (wready == !write_data_q);
            assert (arready == !read_q);
            assert (bvalid == write_answer_q);
            assert (rvalid == read_answer_q);
            if (bvalid) assert (bresp == {berror_q, 1'b0});
            if (rvalid) assert ({rresp, rdata} == {rerror_q, 1'b0, rdata_q});
            if (bwaits_q) assert (bvalid && bresp == bresp_q);
            if (rwaits_q) assert (rvalid && {rresp, rdata} == rword_q);
            assert (request == (!works_q && (can_write || can_read)));
            if (request || works_q) begin
                assert (write == want_write);
                if (write) assert (write_address_q && write_data_q && {address, data, strobes} == {awaddr_q, wdata_q, wstrb_q});
                else assert (read_q && address == araddr_q);
            end
        end
    end
endmodule
