{{ header }}
    // Constants in place of the registers.
    assign cfg_o = {{ fields }};
{%- if has_clock %}
    assign tile_clk_o = clk_i;
{%- endif %}
{%- if !has_contents %}
    // No register is left.
{%- for output in others %}
    assign {{ output }} = '0;
{%- endfor %}
{%- else %}

    // The contents of the memory are loaded.
    logic in_memory;
    logic access_q;
    logic read_q;
{%- if let Some(feature) = common_feature %}
    logic is_common;
    assign is_common           = config_write_i && config_address_i[31:24] == 8'hff
        && (config_address_i[23:16] == 8'hff || config_address_i[23:16] == column_i)
        && config_address_i[15:12] == 4'd{{ feature }};
{%- endif %}
    assign in_memory           = {% if common_feature.is_some() %}is_common
        || {% endif %}config_address_i[31:12] == {row_i, column_i, 4'd{{ memory_feature }}};
    assign memory_write_o      = config_write_i & in_memory;
    assign memory_read_o       = config_read_i & in_memory;
    assign memory_address_o    = {18'd0, config_address_i[11:0], 2'd0};
    assign memory_write_data_o = config_write_data_i;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            access_q <= 1'b0;
            read_q   <= 1'b0;
        end else begin
            access_q <= (config_write_i | config_read_i) & in_memory;
            read_q   <= config_read_i & in_memory;
        end
    end
    assign config_done_o      = access_q & ~memory_error_i;
    assign config_read_data_o = read_q ? memory_read_data_i : '0;
{%- endif %}
endmodule
