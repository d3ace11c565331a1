// Counts with many levels. (comment before the file's first module)
// Second line.

/// Doc comment above the module.
/// Timing: count is valid one cycle after advance.
module counter #(
    // width of the counter in bits
    parameter int unsigned WIDTH  = 16, // end-of-line on a parameter
    parameter int unsigned LEVELS = 4,
    /// doc comment on a parameter
    parameter  bit          HAS_DATA   = 1'b1,
    localparam int unsigned LEVEL_BITS = (LEVELS > 1) ? $clog2(LEVELS) : 1
) (
    input logic clk,
    input logic rst_n,
    // line comment before a port
    input logic advance, // end-of-line comment on a port
    /// doc comment on a port
    input  logic [(LEVELS * WIDTH)-1:0] limit,
    input  logic [WIDTH-1:0]            data,
    output logic [(LEVELS * WIDTH)-1:0] count,
    output logic [LEVEL_BITS-1:0]       level,
    output logic [WIDTH-1:0]            held
);
    // comment before a localparam
    localparam logic [WIDTH-1:0] ONE = 1;

    // comment before a variable
    logic [LEVELS-1:0] at_limit; // end-of-line on variable
    logic [LEVELS-1:0] carry;

    // A local variable carries the ripple: no vector depends on itself.
    always_comb begin
        logic ripple;
        ripple = advance;
        for (int unsigned i = 0; i < LEVELS; i++) begin
            carry[i] = ripple;
            ripple   = ripple && at_limit[i];
        end
    end

    for (genvar i = 0; i < LEVELS; i++) begin : gen_level
        // comment in the generate loop
        logic [WIDTH-1:0] value;

        always_ff @(posedge clk, negedge rst_n) begin
            if (!rst_n) begin
                value <= '0; // end of line in always_ff
            end else if (carry[i]) begin
                // inside else-if
                value <= at_limit[i] ? '0 : (value + ONE);
            end
        end

        assign at_limit[i]             = value == limit[i * WIDTH+:WIDTH];
        assign count[i * WIDTH+:WIDTH] = value;
    end

    // which level is outermost
    always_comb begin
        level = '0;
        for (int unsigned i = 0; i < LEVELS; i++) begin
            if (carry[i]) begin
                level = LEVEL_BITS'(i);
            end
        end
    end

    if (HAS_DATA) begin : gen_data
        logic [WIDTH-1:0] data_q;
        always_ff @(posedge clk) begin
            if (advance) begin
                data_q <= data;
            end
        end
        assign held = data_q;
    end else begin : gen_no_data
        assign held = '0;
    end
    // comment at the end of module
endmodule
// comment at the end of file
