// Proof of a whole tile, `small`, for all configurations and all that is done to it: what is asserted holds in every cycle that
// follows one in which the invariants hold, and they hold after reset.
//
// - Accesses: the SRAM is written when an agg2sram that owns its row fires, and read when a sram2tb does, at the address of the
//   one that fires, with the row of its aggregator; in a stall, not at all. So where the schedule lets at most one of them fire in
//   a cycle, which is what the compiler promises and the checker asserts, there is at most one access in a cycle.
// - The end: a controller that took its last step does not fire before the next flush. controller_proof.sv says which step
//   is the last.
// - A stall: with neither a flush nor a write of a register, the same controllers are due after a stalled cycle as in it.
//   scripts/formal proves besides that all registers and memories stay as they are.
// - Configuration: a register reads as it was written, whatever is written elsewhere, and an access to one is no error.
module tile_proof (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        flush_i,
    input logic        stall_i,
    input logic        config_write_i,
    input logic        config_read_i,
    input logic [31:0] config_address_i,
    input logic [31:0] config_write_data_i,
    input logic [15:0] data_in_0_i,
    input logic [15:0] data_in_1_i,
    input logic [15:0] chain_in_0_i,
    input logic [15:0] chain_in_1_i,
    // The address of a register, any, and always the same.
    input logic [31:0] watched_i
);
    logic [31:0] config_read_data_o;
    logic        config_error_o;
    logic        data_in_0_taken_o, data_in_1_taken_o, data_out_0_valid_o, data_out_1_valid_o, stencil_valid_o;
    logic [15:0] data_out_0_o, data_out_1_o;
    // With clock gates there is one more input, for scan tests.
    logic        test_enable_i;
    always_comb test_enable_i = 1'b0;
    small_tile u_tile (.*);

    // Which controllers fire, and which are in the middle of a run; their last steps.
    localparam int unsigned Controllers = 9;
    logic [Controllers-1:0] fires, active, last;
    always_comb begin
        fires = {u_tile.stencil_valid_fire, u_tile.tb2out_fire, u_tile.sram2tb_fire, u_tile.agg2sram_fire, u_tile.in2agg_fire};
    end
    assign active[8] = u_tile.u_stencil_valid.u_iteration_domain.active_o;
    assign last[8]   = &u_tile.u_stencil_valid.u_iteration_domain.at_last;
    for (genvar port = 0; port < 2; port++) begin : gen_port
        assign active[port]     = u_tile.gen_in2agg[port].u_controller.u_iteration_domain.active_o;
        assign active[2 + port] = u_tile.gen_agg2sram[port].u_controller.u_iteration_domain.active_o;
        assign active[4 + port] = u_tile.gen_sram2tb[port].u_controller.u_iteration_domain.active_o;
        assign active[6 + port] = u_tile.gen_tb2out[port].u_controller.u_iteration_domain.active_o;
        assign last[port]       = &u_tile.gen_in2agg[port].u_controller.u_iteration_domain.at_last;
        assign last[2 + port]   = &u_tile.gen_agg2sram[port].u_controller.u_iteration_domain.at_last;
        assign last[4 + port]   = &u_tile.gen_sram2tb[port].u_controller.u_iteration_domain.at_last;
        assign last[6 + port]   = &u_tile.gen_tb2out[port].u_controller.u_iteration_domain.at_last;
    end

    // The controllers that own the rows of their accesses.
    logic [1:0] writers, readers;
    always_comb begin
        for (int port = 0; port < 2; port++) begin
            writers[port] = u_tile.agg2sram_fire[port]
                && (!u_tile.control.chain_enable || u_tile.agg2sram_sram_address[port][5:4] == u_tile.control.tile_id);
            readers[port] = u_tile.sram2tb_fire[port]
                && (!u_tile.control.chain_enable || u_tile.sram2tb_sram_address[port][5:4] == u_tile.control.tile_id);
        end
    end

    // The past: what comes before the first cycle is not known.
    logic                   first_q = 1'b1;
    logic [Controllers-1:0] ended_q = '0;
    logic                   held_q = 1'b0;
    logic [Controllers-1:0] fires_q;
    always_ff @(posedge clk_i) begin
        first_q      <= 1'b0;
        ended_q      <= rst_ni && !flush_i ? ended_q | (stall_i ? '0 : fires & last) : '0;
        held_q       <= rst_ni && stall_i && !flush_i && !config_write_i;
        fires_q      <= fires;
    end

    // The word that was last written to that register, if any was since the reset.
    logic [31:0] watched_q;
    logic [31:0] written_q;
    logic        known_q = 1'b0;
    logic        shown_q = 1'b0;
    logic [31:0] expected_q;
    logic [31:0] bits;
    logic [31:0] stored;
    always_comb begin
        bits   = '0;
        stored = '0;
        case (watched_i)
            // REGISTERS: scripts/formal puts the bits of each register and where they are here.
            default: ;
        endcase
    end
    always_ff @(posedge clk_i) begin
        watched_q <= watched_i;
        if (!rst_ni) begin
            known_q <= 1'b0;
        end else if (config_write_i && config_address_i == watched_i && bits != '0) begin
            known_q   <= 1'b1;
            written_q <= config_write_data_i & bits;
        end
        shown_q    <= rst_ni && known_q && config_read_i && config_address_i == watched_i;
        expected_q <= written_q;
    end

    always_comb begin
        assume (!(first_q && rst_ni));
        assume (first_q || watched_i == watched_q);
        if (rst_ni) begin
            assert (u_tile.u_sram.enable_i == !stall_i);
            assert (u_tile.u_sram.write_i == (writers != '0));
            assert (u_tile.u_sram.read_i == (readers != '0));
            if (writers == 2'b01) begin
                assert (u_tile.u_sram.write_address_i == u_tile.agg2sram_sram_address[0][3:0]);
                assert (u_tile.u_sram.write_row_i == u_tile.agg_row[0]);
            end
            if (writers == 2'b10) begin
                assert (u_tile.u_sram.write_address_i == u_tile.agg2sram_sram_address[1][3:0]);
                assert (u_tile.u_sram.write_row_i == u_tile.agg_row[1]);
            end
            if (readers == 2'b01) assert (u_tile.u_sram.read_address_i == u_tile.sram2tb_sram_address[0][3:0]);
            if (readers == 2'b10) assert (u_tile.u_sram.read_address_i == u_tile.sram2tb_sram_address[1][3:0]);
            if ($onehot0({writers, readers})) assert (!(u_tile.u_sram.write_i && u_tile.u_sram.read_i));

            assert ((ended_q & active) == '0);
            assert ((ended_q & fires) == '0);

            if (held_q) assert (fires == fires_q);

            if (known_q) assert (bits != '0 && stored == written_q);
            if (shown_q) assert (config_read_data_o == expected_q && !config_error_o);
        end
    end
endmodule
