// Proof of the divider, signed and unsigned: in any pattern of steps, its results are the quotient and the remainder of the
// operands that were at its inputs Width / BitsPerStage steps ago, of signed ones 2 more: the remainder is from 0 to less than the
// magnitude of the divisor, and both are 0 where the divisor is.
module divider_proof #(
    parameter int unsigned Width        = 4,
    parameter bit          Signed       = 1'b0,
    parameter int unsigned BitsPerStage = 2
) (
    input logic clk_i,
    input logic step_i,

    input logic [Width-1:0] dividend_i,
    input logic [Width-1:0] divisor_i
);
    localparam int unsigned Stages  = Width / BitsPerStage;
    localparam int unsigned Latency = Signed ? Stages + 2 : Stages;

    logic [Width-1:0] quotient;
    logic [Width-1:0] remainder;
    pushmem_divider #(.Width(Width), .Signed(Signed), .BitsPerStage(BitsPerStage)) u_divider (
        .clk_i, .step_i, .dividend_i, .divisor_i, .quotient_o(quotient), .remainder_o(remainder)
    );

    // The operands of the last steps, and how many have come.
    localparam int unsigned Bits = $clog2(Latency + 1);
    logic [Bits-1:0]  come_q = '0;
    logic [Width-1:0] dividends_q [Latency + 1];
    logic [Width-1:0] divisors_q [Latency + 1];
    always_ff @(posedge clk_i) begin
        if (step_i) begin
            dividends_q[1] <= dividend_i;
            divisors_q[1]  <= divisor_i;
            for (int age = 2; age <= Latency; age++) begin
                dividends_q[age] <= dividends_q[age-1];
                divisors_q[age]  <= divisors_q[age-1];
            end
            if (come_q != Latency) come_q <= come_q + 1'b1;
        end
    end

    // The magnitude of an operand.
    function automatic logic [Width-1:0] magnitude(input logic [Width-1:0] word);
        magnitude = Signed && word[Width-1] ? -word : word;
    endfunction

    // The expected results, in numbers wide enough for both signs.
    logic signed [Width+1:0] numerator;
    logic signed [Width+1:0] denominator;
    logic signed [Width+1:0] size;
    logic signed [Width+1:0] want_quotient;
    logic signed [Width+1:0] want_remainder;
    always_comb begin
        numerator      = {{2{Signed && dividends_q[Latency][Width-1]}}, dividends_q[Latency]};
        denominator    = {{2{Signed && divisors_q[Latency][Width-1]}}, divisors_q[Latency]};
        size           = denominator < 0 ? -denominator : denominator;
        want_quotient  = '0;
        want_remainder = '0;
        if (denominator != 0) begin
            want_remainder = numerator % size;
            if (want_remainder < 0) want_remainder = want_remainder + size;
            want_quotient = (numerator - want_remainder) / denominator;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive: behind each stage, the quotient and the
    // remainder of as many upper bits of the dividend as have been looked at. They are proved with the rest.
    for (genvar i = 0; i < Stages; i++) begin : gen_stage
        localparam int unsigned Age  = Signed ? i + 2 : i + 1;
        localparam int unsigned Seen = BitsPerStage * (i + 1);
        always_comb begin
            automatic logic [Width-1:0] top    = magnitude(dividends_q[Age]) >> (Width - Seen);
            automatic logic [Width-1:0] amount = magnitude(divisors_q[Age]);
            automatic logic [Width-1:0] unseen = magnitude(dividends_q[Age]) << Seen;
            if (come_q >= Age && amount != '0) begin
                assert (u_divider.gen_stage[i].state_q == {top % amount, unseen | top / amount});
            end
            if (come_q >= Age && amount == '0 && i == Stages - 1) assert (u_divider.gen_stage[i].state_q == '0);
        end
    end
    for (genvar i = 1; i < (Signed ? Stages + 1 : Stages); i++) begin : gen_divisor
        localparam int unsigned Age = Signed ? i + 1 : i;
        always_comb begin
            if (come_q >= Age) assert (u_divider.gen_divisor[i].divisor_q == magnitude(divisors_q[Age]));
        end
    end
    if (Signed) begin : gen_signed
        always_comb begin
            if (come_q >= 1) begin
                assert (u_divider.gen_signed.dividend_q == magnitude(dividends_q[1]));
                assert (u_divider.gen_signed.divisor_q == magnitude(divisors_q[1]));
            end
            for (int age = 1; age <= Stages + 1; age++) begin
                if (come_q >= age) begin
                    assert (u_divider.gen_signed.dividend_negative_q[age-1] == dividends_q[age][Width-1]);
                    assert (u_divider.gen_signed.divisor_negative_q[age-1] == divisors_q[age][Width-1]);
                end
            end
        end
    end

    always_comb begin
        if (come_q == Latency) begin
            assert (quotient == Width'(want_quotient));
            assert (remainder == Width'(want_remainder));
        end
    end
endmodule
