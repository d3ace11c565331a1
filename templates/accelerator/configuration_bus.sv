    logic{{ range }} config_tile;
    logic{{ range }} config_tile_q;
    assign config_tile = config_address_i[{{ high }}:{{ low }}];
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            config_tile_q <= '0;
        end else if (config_read_i) begin
            config_tile_q <= config_tile;
        end
    end
    logic{{ errors }} config_errors;
{%- if let Some(last) = last %}
    logic config_misses_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            config_misses_q <= 1'b0;
        end else begin
            config_misses_q <= (config_write_i || config_read_i) && config_tile > {{ last }};
        end
    end
{%- endif %}
    assign config_error_o = |config_errors{% if last.is_some() %} | config_misses_q{% endif %};
{%- for (_, data) in data %}
    logic [31:0] {{ data }};
{%- endfor %}
    always_comb begin
        unique0 case (config_tile_q)
{%- for (tile, data) in data %}
            {{ tile }}: config_read_data_o = {{ data }};
{%- endfor %}
            default: config_read_data_o = '0;
        endcase
    end
