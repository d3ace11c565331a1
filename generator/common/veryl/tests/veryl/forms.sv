/* Forms of the house subset
   in one module. */
module forms #(
    parameter  int unsigned W     = 16,
    parameter  int unsigned D     = 64,
    parameter  int unsigned LANES = 4,
    parameter  logic [15:0] START = 16'd3,
    parameter  int unsigned STYLE = 0, // which parity
    parameter  logic [63:0] TABLE = 64'h0123_4567_89ab_cdef,
    localparam int unsigned AW    = $clog2(D),
    localparam int unsigned LW    = (LANES > 1) ? $clog2(LANES) : 1
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   flush,
    input  logic                   stall,
    input  logic                   we,
    input  logic [AW-1:0]          addr,
    input  logic [(LANES * W)-1:0] wdata,
    output logic [(LANES * W)-1:0] rdata,
    input  logic [2:0]             op,
    input  logic [W-1:0]           a,
    input  logic [W-1:0]           b,
    output logic [W-1:0]           y,
    output logic [(W + 1)-1:0]     sum,
    output logic                   lt,
    input  logic [LW-1:0]          lane,
    output logic [W-1:0]           word,
    output logic [(2 * W)-1:0]     cat,
    output logic [AW-1:0]          count,
    output logic                   any,
    output logic [7:0]             first,
    output logic                   found,
    output logic [3:0]             nibble,
    output logic                   parity,
    output logic [W-1:0]           less_one,
    output logic [(2 * W)-1:0]     product,
    output logic [(2 * W)-1:0]     extended,
    output logic [3:0]             little,
    output logic [W-1:0]           mirror,
    output logic [W-1:0]           half,
    input  logic [2:0]             spare
);
    // States of the walker.
    typedef enum logic [1:0] {
        State_Idle,
        State_Run,
        State_Done
    } State;

    // The memory: one-dimensional.
    logic [(LANES * W)-1:0] mem [D];
    logic [(LANES * W)-1:0] rdata_q;
    assign rdata = rdata_q;

    always_ff @(posedge clk) begin
        if (!stall) begin
            if (we) begin
                mem[addr] <= wdata;
            end
            rdata_q <= mem[addr];
        end
    end

    // Minimum, unsigned.
    function automatic logic [W-1:0] minimum(
        input logic [W-1:0] p,
        input logic [W-1:0] q
    );
        return ((p < q) ? p : q);
    endfunction

    // One bit wider on purpose.
    assign sum = {1'b0, a} + {1'b0, b};
    assign lt  = $signed(a) < $signed(b);
    assign cat = {a, b};

    // case statement
    always_comb begin
        case (op)
            3'd0      : y = a + b;
            3'd1      : y = a - b;
            3'd2      : y = minimum(a, b);
            3'd3      : y = $signed(a) >>> b[3:0];
            3'd4      : y = {{W - 8{a[7]}}, a[7:0]};
            3'd5, 3'd6: begin
                y = ~a;
            end
            default: y = '0;
        endcase
    end

    // case expression
    State state;
    State next_state; assign next_state = ((state ==? State_Idle) ? (
        (flush ? State_Run : State_Idle)
    ) : (state ==? State_Run) ? (
        State_Done
    ) : (
        State_Idle
    ));

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            state <= State_Idle;
        end else if (!stall) begin
            state <= next_state;
        end
    end

    // counter with width-clean increment
    logic [AW-1:0] count_q;
    assign count = count_q;
    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            count_q <= '0;
        end else if (flush) begin
            count_q <= START[AW - 1:0];
        end else if (!stall) begin
            count_q <= count_q + 1;
        end
    end

    // run-time lane select
    assign word = wdata[lane * W+:W];

    // reduction
    logic is_run; assign is_run = state == State_Run;
    assign any = |a || is_run && &b;

    // generate chain
    if (STYLE == 0) begin : gen_even
        assign parity = ^a;
    end else if (STYLE == 1) begin : gen_odd
        assign parity = ~^a;
    end else begin : gen_none
        assign parity = 1'b0;
    end

    // priority search with a local variable
    always_comb begin
        found = 1'b0;
        first = 8'd0;
        /* block comment inside */
        for (int unsigned i = 0; i < LANES; i++) begin
            logic hit;
            hit = wdata[i * W+:W] == a; // at the end of a line
            if (hit && !found) begin
                found = 1'b1;
                first = 8'(i);
            end
        end
        // dangling at the end of a block
    end

    localparam logic [W-1:0] MASK = {W{1'b1}};

    assign nibble   = TABLE[op * 4+:4];
    assign less_one = a - 1;
    assign product  = {{W{1'b0}}, a} * {{W{1'b0}}, b};
    assign extended = {{W{a[W - 1]}}, a};
    assign little   = 4'(a + MASK);

    for (genvar i = 0; i < W; i++) begin : gen_mirror
        assign mirror[i] = a[W - 1 - i];
    end

    /// A function without a value.
    function automatic void halve(
        input  logic [W-1:0] value,
        output logic [W-1:0] result
    );
        result = value >> 1;
    endfunction

    always_comb begin
        // before if
        if (op[0]) begin
            half = '0; // one
            // before else if
        end else if (op[1]) begin
            half = 1;
        end else begin
            halve(a, half);
        end
    end

    logic [2:0] _unused; assign _unused = spare;
endmodule
