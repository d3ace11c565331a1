// Proof of the APB subordinate, for any pace of transfers that keep the rules of the requester, and of answers: each transfer reaches the
// registers once, with its own address, data and strobes, which stay until the answer; it ends in its access phase, in the cycle after
// the answer, with what the answer says; there is no error at another time; and no output of the bus depends on an input of the same
// cycle: all are those of a reference of registers alone.
module apb_proof #(
    parameter int unsigned AddressBits = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                   psel_i,
    input logic                   penable_i,
    input logic                   pwrite_i,
    input logic [AddressBits-1:0] paddr_i,
    input logic [31:0]            pwdata_i,
    input logic [3:0]             pstrb_i,
    input logic                   answer_i,
    input logic                   error_i,
    input logic [31:0]            data_i
);
    logic                   pready;
    logic [31:0]            prdata;
    logic                   pslverr;
    logic                   request;
    logic                   write;
    logic [AddressBits-1:0] address;
    logic [31:0]            data;
    logic [3:0]             strobes;
    pushmem_apb #(.AddressBits(AddressBits)) u_apb (
        .clk_i, .rst_ni, .psel_i, .penable_i, .pwrite_i, .paddr_i, .pwdata_i, .pstrb_i, .pready_o(pready), .prdata_o(prdata),
        .pslverr_o(pslverr), .request_o(request), .write_o(write), .address_o(address), .data_o(data), .strobes_o(strobes), .answer_i,
        .error_i, .data_i
    );
    logic broken;
    pushmem_apb_rules #(.Width(AddressBits + 37)) u_rules (
        .clk_i, .rst_ni, .psel_i, .penable_i, .pready_i(pready), .pslverr_i(pslverr),
        .payload_i({paddr_i, pwrite_i, pwrite_i ? {pwdata_i, pstrb_i} : 36'd0}), .broken_o(broken)
    );

    // Whether the transfer goes on after its setup phase; whether registers work on it, and whether they answered in the cycle before.
    logic                   first_q = 1'b1;
    logic                   access_q;
    logic                   works_q;
    logic                   done_q;
    logic                   write_q;
    logic [AddressBits-1:0] address_q;
    logic [31:0]            wdata_q;
    logic [3:0]             strobes_q;
    logic                   error_q;
    logic [31:0]            rdata_q;
    logic                   setup;
    assign setup = psel_i && !access_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            {access_q, works_q, done_q} <= '0;
        end else begin
            access_q <= setup || access_q && !pready;
            works_q  <= (setup || works_q) && !answer_i;
            done_q   <= answer_i;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (setup) {write_q, address_q, wdata_q, strobes_q} <= {pwrite_i, paddr_i, pwdata_i, pstrb_i};
        if (answer_i) {error_q, rdata_q} <= {error_i, data_i};
    end

    // Helping invariants, on what is inside the modules, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (access_q == (works_q || done_q) && !(works_q && done_q));
            assert (u_rules.goes_on_q == access_q);
            if (access_q) begin
                assert (u_rules.waiting_q == {address_q, write_q, write_q ? {wdata_q, strobes_q} : 36'd0});
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        // Registers answer accesses only.
        assume (!answer_i || request || works_q);
        // The requester: a setup phase of a cycle, then an access phase in which nothing changes.
        if (rst_ni) begin
            assume (access_q ? psel_i && penable_i : !(psel_i && penable_i));
            if (access_q) begin
                assume ({pwrite_i, paddr_i} == {write_q, address_q});
                if (write_q) assume ({pwdata_i, pstrb_i} == {wdata_q, strobes_q});
            end
        end
        if (rst_ni && !first_q) begin
            assert (!broken);
            assert (pready == done_q);
            if (pready) assert (psel_i && penable_i && prdata == rdata_q);
            assert (pslverr == (done_q && error_q));
            assert (request == setup);
            if (works_q) begin
                assert (write == write_q && address == address_q);
                if (write) assert ({data, strobes} == {wdata_q, strobes_q});
            end
            if (request) begin
                assert ({write, address} == {pwrite_i, paddr_i});
                if (write) assert ({data, strobes} == {pwdata_i, pstrb_i});
            end
        end
    end
endmodule
