    // The tiles that the bitstream uses, in place of all blocks.
    logic        request;
    logic        any_done;
    logic [31:0] any_read_data;
    assign requests  = {{ blocks_of_io }}'(request);
    assign done      = {{ blocks }}'(any_done);
    assign read_data = {{ 32 * blocks }}'(any_read_data);
    {{ module }} u_tiles (
        .clk_i               (clk_i),
        .rst_ni              (rst_ni),
{%- if spec.clock_gating %}
        .test_enable_i       (test_enable_i),
{%- endif %}
        .flush_i             (flush[{{ last }}]),
        .stall_i             (stall[{{ last }}]),
        .config_write_i      (write[{{ last }}]),
        .config_read_i       (read[{{ last }}]),
        .config_clear_i      (clear[{{ last }}]),
        .config_address_i    (address[{{ last }}]),
        .config_write_data_i (write_data[{{ last }}]),
        .config_read_data_o  (any_read_data),
        .config_done_o       (any_done),
        .request_o           (request),
        .data_i              (data_i),
        .bit_i               (bit_i),
        .valid_i             (valid_i),
        .ready_o             (ready_o),
        .data_o              (data_o),
        .bit_o               (bit_o),
        .valid_o             (valid_o),
        .ready_i             (ready_i)
    );
endmodule
