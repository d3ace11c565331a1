// Instantiates.
module counter_top #(
    parameter int unsigned WIDTH = 8
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   advance,
    input  logic [(3 * WIDTH)-1:0] limit,
    input  logic [WIDTH-1:0]       data,
    output logic [(3 * WIDTH)-1:0] count,
    output logic [1:0]             level,
    output logic [WIDTH-1:0]       held
);
    // the counter
    counter #(
        .WIDTH  (WIDTH),
        .LEVELS (3)
    ) u_counter (
        .clk     (clk),
        .rst_n   (rst_n),
        .advance (advance),
        .limit   (limit),
        .data    (data),
        .count   (count),
        .level   (level),
        .held    (held)
    );

    // one assertion inside the module
    known_limit: assert property (@(posedge clk) disable iff (!rst_n) !(advance && $isunknown(limit)));
endmodule
