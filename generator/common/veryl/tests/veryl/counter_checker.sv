// Properties.
module counter_checker (
    input logic clk,
    input logic advance
);
    known_advance: assert property (@(posedge clk) !$isunknown(advance));
endmodule
bind counter_top counter_checker u_counter_checker (.clk(clk), .advance(advance));
