// Proof of what an array does with commands and answers, for all accesses and whatever its tiles show; of two columns, each a block of
// its own, with two registers from the ports to the tiles.
//
// - Lock: a write reaches tiles if the last write to the digest's address, since the reset, was of the digest; a read always does.
//   Writes to other addresses change nothing of that.
// - Clearing: a write to the register that clears reaches all tiles, or those of the column that it names; one of a locked array, or of a
//   column that is not there, none.
// - Holding: a column that is cleared alone, or stopped, is stalled, takes no beats and asks for no stall, until its next start; others are
//   not.
// - Starts: a flush reaches the tiles of all columns, a write to the register that starts those of the columns that hold still.
// - Time: tiles are stalled where the host stalls, after a flush or a start, and where an IO tile that is not held asked for it.
// - Answers: an access is an error unless a tile has the register, or the array itself took it; what was read is what tiles show.
module array_control_proof #(
    parameter int unsigned Digest = 0
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        flush_i,
    input logic        stall_i,
    input logic        config_write_i,
    input logic        config_read_i,
    input logic [31:0] config_address_i,
    input logic [31:0] config_write_data_i,
    input logic [31:0] data_i,
    input logic [1:0]  bit_i,
    input logic [1:0]  valid_i,
    input logic [1:0]  ready_i
);
    localparam int unsigned Latency = 4;
    logic [31:0] config_read_data_o;
    logic        config_error_o;
    logic [1:0]  ready_o, bit_o, valid_o;
    logic [31:0] data_o;
    net_array u_array (.*);

    // Inputs and outputs of the tiles of a column: those of its PE tile, and of its IO tile.
    logic [1:0]       write, read, clear, stall, flush, io_write, io_clear, io_stall, io_flush, io_valid, io_ready, io_request;
    logic [1:0]       done, io_done;
    logic [1:0][31:0] address, data, io_address, read_data, io_read_data;
`define COLUMN(c) \
    assign write[c]        = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_write_i; \
    assign read[c]         = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_read_i; \
    assign clear[c]        = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_clear_i; \
    assign stall[c]        = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.stall_i; \
    assign address[c]      = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_address_i; \
    assign data[c]         = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_write_data_i; \
    assign done[c]         = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_done_o; \
    assign read_data[c]    = u_array.gen_row[0].gen_column[c].u_block.gen_row[0].gen_column[0].u_tile.config_read_data_o; \
    assign flush[c]        = u_array.gen_row[0].gen_column[c].u_block.flushes[0]; \
    assign io_write[c]     = u_array.gen_io[c].u_block.gen_column[0].u_tile.config_write_i; \
    assign io_clear[c]     = u_array.gen_io[c].u_block.gen_column[0].u_tile.config_clear_i; \
    assign io_stall[c]     = u_array.gen_io[c].u_block.gen_column[0].u_tile.stall_i; \
    assign io_flush[c]     = u_array.gen_io[c].u_block.gen_column[0].u_tile.flush_i; \
    assign io_address[c]   = u_array.gen_io[c].u_block.gen_column[0].u_tile.config_address_i; \
    assign io_valid[c]     = u_array.gen_io[c].u_block.gen_column[0].u_tile.valid_i; \
    assign io_ready[c]     = u_array.gen_io[c].u_block.gen_column[0].u_tile.ready_o; \
    assign io_request[c]   = u_array.gen_io[c].u_block.gen_column[0].u_tile.request_o; \
    assign io_done[c]      = u_array.gen_io[c].u_block.gen_column[0].u_tile.config_done_o; \
    assign io_read_data[c] = u_array.gen_io[c].u_block.gen_column[0].u_tile.config_read_data_o;
    `COLUMN(0)
    `COLUMN(1)

    // Accesses of the array itself.
    logic of_digest, of_clear, of_start, of_stop, unlocked_q;
    assign of_digest = config_address_i == 32'hffff0000;
    assign of_clear  = config_address_i inside {32'hffff0001, 32'hff000001, 32'hff010001};
    assign of_start  = config_address_i == 32'hffff0002;
    assign of_stop   = config_address_i inside {32'hffff0003, 32'hff000003, 32'hff010003};

    // Commands on their way: at the ports, one and two cycles later.
    typedef struct packed {
        logic        flush, start, stall, write, read;
        logic [1:0]  clear, stop;
        logic        alone;
    } command_t;
    command_t    given, first_q, second_q;
    logic [31:0] address1_q, address2_q, data1_q, data2_q;
    logic [1:0]  held_q, asked_q;
    logic        asked2_q;
    logic [2:0]  wait_q;
    always_comb begin
        given.flush = flush_i;
        given.stall = stall_i || asked2_q || wait_q != '0;
        given.write = config_write_i && unlocked_q;
        given.read  = config_read_i;
        given.start = given.write && of_start;
        given.alone = config_address_i[23:16] != 8'hff;
        for (int c = 0; c < 2; c++) begin
            given.clear[c] = given.write && of_clear && (!given.alone || config_address_i[23:16] == 8'(c));
            given.stop[c]  = given.write && of_stop && (!given.alone || config_address_i[23:16] == 8'(c));
        end
    end

    // Answers: whether there was an access, whether the array took it, and the digest if it was read; what blocks gathered.
    logic [3:0]  asks_q, own_q, reads_q;
    logic [1:0]  done_q, io_done_q;
    logic [31:0] shown_q;
    logic        want_error_q;
    logic [31:0] want_data_q;
    logic        known_q = 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            {unlocked_q, first_q, second_q, held_q, asked_q, asked2_q, wait_q} <= '0;
            {asks_q, own_q, reads_q, done_q, io_done_q, shown_q, want_error_q, want_data_q} <= '0;
        end else begin
            if (config_write_i && of_digest) unlocked_q <= config_write_data_i == Digest;
            first_q  <= given;
            second_q <= first_q;
            for (int c = 0; c < 2; c++) begin
                if (second_q.stop[c] || second_q.clear[c] && second_q.alone) held_q[c] <= 1'b1;
                else if (second_q.flush || second_q.start) held_q[c] <= 1'b0;
            end
            asked_q  <= io_request & ~held_q;
            asked2_q <= |asked_q;
            if (flush_i || given.start) wait_q <= 3'(Latency);
            else if (wait_q != '0) wait_q <= wait_q - 1'b1;

            asks_q       <= {asks_q[2:0], config_write_i || config_read_i};
            own_q        <= {own_q[2:0], of_digest && (config_read_i || config_write_i && config_write_data_i == Digest)
                || (of_clear || of_start || of_stop) && config_write_i && unlocked_q};
            reads_q      <= {reads_q[2:0], config_read_i && of_digest};
            done_q       <= done;
            io_done_q    <= io_done;
            shown_q      <= read_data[0] | read_data[1] | io_read_data[0] | io_read_data[1];
            want_error_q <= asks_q[3] && !own_q[3] && {done_q, io_done_q} == '0;
            want_data_q  <= shown_q | (reads_q[3] ? Digest : '0);
        end
    end
    always_ff @(posedge clk_i) begin
        known_q    <= 1'b1;
        address1_q <= config_address_i;
        address2_q <= address1_q;
        data1_q    <= config_write_data_i;
        data2_q    <= data1_q;
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (known_q || !rst_ni);
        if (rst_ni && known_q) begin
            for (int c = 0; c < 2; c++) begin
                assert (write[c] == second_q.write && read[c] == second_q.read && io_write[c] == second_q.write);
                if (second_q.write || second_q.read) begin
                    assert (address[c] == address2_q && data[c] == data2_q && io_address[c] == address2_q);
                end
                assert (clear[c] == second_q.clear[c] && io_clear[c] == second_q.clear[c]);
                assert (flush[c] == (second_q.flush || second_q.start && held_q[c]) && io_flush[c] == flush[c]);
                assert (stall[c] == (second_q.stall || held_q[c]) && io_stall[c] == stall[c]);
                assert (io_valid[c] == (valid_i[c] && !held_q[c]));
                assert (ready_o[c] == (io_ready[c] && !held_q[c]));
            end
            assert (config_error_o == want_error_q);
            assert (config_read_data_o == want_data_q);
        end
    end

    // Helping invariants, on what is inside the array, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && known_q) begin
            assert (u_array.unlocked_q == unlocked_q);
            assert ({u_array.flush[1], u_array.stall[1]} == {first_q.flush, first_q.stall});
            assert ({u_array.write[1], u_array.read[1]} == {first_q.write, first_q.read});
            assert (u_array.clear[1] == (first_q.clear != '0));
            if (first_q.write || first_q.read) assert (u_array.address[1] == address1_q && u_array.write_data[1] == data1_q);
            // Commands clear and stop exactly what their addresses name.
            assert (first_q.start == (first_q.write && address1_q == 32'hffff0002));
            assert (second_q.start == (second_q.write && address2_q == 32'hffff0002));
            if (first_q.write) begin
                assert (first_q.alone == (address1_q[23:16] != 8'hff));
                assert (first_q.stop == {address1_q inside {32'hffff0003, 32'hff010003}, address1_q inside {32'hffff0003, 32'hff000003}});
            end else assert (first_q.stop == '0);
            if (second_q.write) begin
                assert (second_q.alone == (address2_q[23:16] != 8'hff));
                assert (second_q.stop == {address2_q inside {32'hffff0003, 32'hff010003}, address2_q inside {32'hffff0003, 32'hff000003}});
            end else assert (second_q.stop == '0);
            if (first_q.clear != '0) begin
                assert (first_q.write && first_q.alone == (address1_q[23:16] != 8'hff));
                assert (first_q.clear == (first_q.alone ? {address1_q[23:16] == 8'd1, address1_q[23:16] == 8'd0} : 2'b11));
            end
            if (second_q.clear != '0) begin
                assert (second_q.write && second_q.alone == (address2_q[23:16] != 8'hff));
                assert (second_q.clear == (second_q.alone ? {address2_q[23:16] == 8'd1, address2_q[23:16] == 8'd0} : 2'b11));
            end
            assert (u_array.gen_row[0].gen_column[0].u_block.clear == (second_q.clear != '0) && u_array.gen_row[0].gen_column[1].u_block.clear == (second_q.clear != '0));
            assert (u_array.gen_io[0].u_block.clear == (second_q.clear != '0) && u_array.gen_io[1].u_block.clear == (second_q.clear != '0));
            assert ({u_array.gen_row[0].gen_column[1].u_block.held_q, u_array.gen_row[0].gen_column[0].u_block.held_q} == held_q);
            assert ({u_array.gen_io[1].u_block.held_q, u_array.gen_io[0].u_block.held_q} == held_q);
            assert (u_array.requests == asked_q && u_array.request_q == asked2_q);
            assert (wait_q <= 3'(Latency) && {1'b0, u_array.start_q} == (5'd1 << wait_q) - 5'd1);
            assert (u_array.requests_q == asks_q && u_array.own_done_q == own_q && u_array.own_reads_q == reads_q);
            assert (u_array.done == {done_q, io_done_q});
            assert ((u_array.read_data[31:0] | u_array.read_data[63:32] | u_array.read_data[95:64] | u_array.read_data[127:96]) == shown_q);
        end
    end
endmodule
