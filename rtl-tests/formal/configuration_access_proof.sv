// Proof of the accesses of a bus to a configuration port, whose data and errors are any: a request reaches the port in its own cycle, if it is
// no write of a part of a register; it is answered Latency cycles later, with the error that the port had ErrorLatency cycles after the
// request, and with its data, which are 0 with an error.
module configuration_access_proof #(
    parameter int unsigned Latency      = 1,
    parameter int unsigned ErrorLatency = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic        request_i,
    input logic        write_i,
    input logic [3:0]  strobes_i,
    input logic [31:0] config_read_data_i,
    input logic        config_error_i
);
    logic        answer;
    logic        error;
    logic [31:0] data;
    logic        config_write;
    logic        config_read;
    pushmem_configuration_access #(.Latency(Latency), .ErrorLatency(ErrorLatency)) u_access (
        .clk_i, .rst_ni, .request_i, .write_i, .strobes_i, .answer_o(answer), .error_o(error), .data_o(data),
        .config_write_o(config_write), .config_read_o(config_read), .config_read_data_i, .config_error_i
    );

    // Cycles since the request, 0 without one; its kind; and the error of the port, once its cycle is over.
    localparam int unsigned CountBits = $clog2(Latency + 1);
    logic                 first_q = 1'b1;
    logic [CountBits-1:0] count_q;
    logic                 write_q;
    logic                 part_q;
    logic                 error_q;
    logic                 fails;
    assign fails = count_q > CountBits'(ErrorLatency) ? error_q : config_error_i;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) count_q <= '0;
        else if (request_i) count_q <= CountBits'(1);
        else if (count_q == CountBits'(Latency)) count_q <= '0;
        else if (count_q != '0) count_q <= count_q + 1'b1;
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (request_i) {write_q, part_q} <= {write_i, write_i && strobes_i != '1};
        if (count_q == CountBits'(ErrorLatency)) error_q <= config_error_i;
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            for (int unsigned k = 0; k < Latency; k++) assert (u_access.flight_q[k] == (count_q == CountBits'(k + 1)));
            if (count_q > CountBits'(ErrorLatency)) assert (u_access.failed_q == error_q);
            if (count_q != '0 && count_q <= CountBits'(ErrorLatency)) assert (!u_access.failed_q);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        // One access at a time, of one kind.
        assume (!request_i || count_q == '0);
        if (count_q != '0) assume (write_i == write_q && (write_i && strobes_i != '1) == part_q);
        if (rst_ni && !first_q) begin
            assert (config_write == (request_i && write_i && strobes_i == '1));
            assert (config_read == (request_i && !write_i));
            assert (answer == (count_q == CountBits'(Latency)));
            if (answer) begin
                assert (error == (part_q || fails));
                assert (data == (error ? 32'd0 : config_read_data_i));
            end
        end
    end
endmodule
