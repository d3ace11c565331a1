// SRAM wrapper with a fault, for tests of the self-test: in place of the model, and never synthesized.
//
// The fault is what the test harness puts into the variables `fault_…`; pushmem-bist says what each kind does.
// Timing: that of the wrapper.
module pushmem_sram #(
    parameter  int unsigned Width       = 64,
    parameter  int unsigned Depth       = 512,
    parameter  int unsigned ReadPorts   = 1,
    parameter  int unsigned WritePorts  = 1,
    parameter  int unsigned Latency     = 1,
    localparam int unsigned AddressBits = $clog2(Depth)
) (
    input  logic                                  clk_i,
    input  logic                                  enable_i,
    input  logic [WritePorts-1:0]                 write_i,
    input  logic [(WritePorts * AddressBits)-1:0] write_address_i,
    input  logic [(WritePorts * Width)-1:0]       write_row_i,
    input  logic [ReadPorts-1:0]                  read_i,
    input  logic [(ReadPorts * AddressBits)-1:0]  read_address_i,
    output logic [(ReadPorts * Width)-1:0]        read_row_o
);
    typedef enum int unsigned {
        None, StuckAt, Transition, Address, Inversion, Idempotent, State
    } kind_e;

    int unsigned fault_kind /* verilator public_flat_rw */;
    // The cell that is wrong; of an address fault, the other row that it reaches.
    int unsigned fault_row /* verilator public_flat_rw */;
    int unsigned fault_bit /* verilator public_flat_rw */;
    // The cell that disturbs it; of an address fault, the address.
    int unsigned fault_by_row /* verilator public_flat_rw */;
    int unsigned fault_by_bit /* verilator public_flat_rw */;
    // The value, or the value after the transition, that disturbs; of an address fault, 1 when the address reaches
    // its own row.
    int unsigned fault_when /* verilator public_flat_rw */;
    // The value of the faulty cell; of an address fault, how two rows that are read together join: 0 as AND, 1 as OR;
    // with no row, the word that is read.
    int unsigned fault_value /* verilator public_flat_rw */;
    // Of an address fault: whether the address reaches the other row, and at which ports that write and that read.
    int unsigned fault_other /* verilator public_flat_rw */;
    int unsigned fault_writers /* verilator public_flat_rw */;
    int unsigned fault_readers /* verilator public_flat_rw */;
    // Contents of all rows when the fault comes into being.
    int unsigned fault_loads /* verilator public_flat_rw */;

    logic [Width-1:0] rows [Depth];

    // A word into a cell array that has this fault.
    task automatic store(input int unsigned row, input logic [Width-1:0] word);
        logic [Width-1:0] held;
        logic [Width-1:0] kept;
        held = rows[row];
        kept  = word;
        if (row == fault_row) begin
            if (fault_kind == StuckAt
                || fault_kind == Transition && held[fault_bit] != fault_when[0]
                    && kept[fault_bit] == fault_when[0]) begin
                kept[fault_bit] = fault_kind == StuckAt ? fault_value[0] : held[fault_bit];
            end
        end
        rows[row] = kept;
        if (row == fault_by_row && held[fault_by_bit] != kept[fault_by_bit]
            && kept[fault_by_bit] == fault_when[0]) begin
            if (fault_kind == Inversion) begin
                rows[fault_row][fault_bit] = ~rows[fault_row][fault_bit];
            end else if (fault_kind == Idempotent) begin
                rows[fault_row][fault_bit] = fault_value[0];
            end
        end
        if (fault_kind == State && rows[fault_by_row][fault_by_bit] == fault_when[0]) begin
            rows[fault_row][fault_bit] = fault_value[0];
        end
    endtask

    logic [(ReadPorts * Width)-1:0] row_q;
    logic [(ReadPorts * Width)-1:0] output_q;
    always @(posedge clk_i) begin
        if (enable_i) begin
            output_q <= row_q;
            for (int unsigned port = 0; port < ReadPorts; port++) begin
                if (read_i[port]) begin
                    automatic int unsigned address = 32'(read_address_i[port * AddressBits+:AddressBits]);
                    automatic logic [Width-1:0] word = rows[address];
                    if (fault_kind == Address && address == fault_by_row && fault_readers[port]) begin
                        case ({fault_when[0], fault_other[0]})
                            2'b00: word = {Width{fault_value[0]}};
                            2'b01: word = rows[fault_row];
                            2'b10: word = rows[address];
                            2'b11: word = fault_value[0] ? rows[address] | rows[fault_row] : rows[address]
                                & rows[fault_row];
                        endcase
                    end
                    if (fault_kind == StuckAt && address == fault_row) begin
                        word[fault_bit] = fault_value[0];
                    end
                    row_q[port * Width+:Width] <= word;
                end
            end
            for (int unsigned port = 0; port < WritePorts; port++) begin
                if (write_i[port]) begin
                    automatic int unsigned address = 32'(write_address_i[port * AddressBits+:AddressBits]);
                    automatic logic wrong = fault_kind == Address && address == fault_by_row && fault_writers[port];
                    if (!wrong || fault_when[0]) begin
                        store(address, write_row_i[port * Width+:Width]);
                    end
                    if (wrong && fault_other[0]) begin
                        store(fault_row, write_row_i[port * Width+:Width]);
                    end
                end
            end
        end
        if (fault_loads[1]) begin
            for (int unsigned row = 0; row < Depth; row++) begin
                rows[row] = {Width{fault_loads[0]}};
            end
        end
    end
    always_comb read_row_o = Latency == 1 ? row_q : output_q;
endmodule
