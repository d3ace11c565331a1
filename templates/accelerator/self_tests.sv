    logic{{ count }} bist_tile_busy;
    logic{{ count }} bist_tile_done;
{%- for tile in tiles %}
    logic{{ tile.address_range }} {{ tile.address }};
    logic{{ tile.row_range }} {{ tile.bits }};
{%- endfor %}
    assign bist_busy_o = |bist_tile_busy;
    assign bist_done_o = &bist_tile_done;
    assign bist_fail_o = |bist_fail_tiles_o;
{%- if let [only] = tiles.as_slice() %}
    assign bist_fail_address_o = {{ address_bits }}'({{ only.address }});
    assign bist_fail_bits_o = {{ width }}'({{ only.bits }});
{%- else %}
    always_comb begin
        bist_fail_address_o = '0;
        bist_fail_bits_o = '0;
        unique0 case (bist_select_i)
{%- for tile in tiles %}
            {{ tile.number }}: begin
                bist_fail_address_o = {{ address_bits }}'({{ tile.address }});
                bist_fail_bits_o = {{ width }}'({{ tile.bits }});
            end
{%- endfor %}
            default: ;
        endcase
    end
{%- endif %}
    `PUSHMEM_ASSERT(a_test_between_runs,
        ((bist_start_i || bist_busy_o) && (start_i || busy_o)) !== 1'b1,
        ("{{ name }}: a run and a self-test at the same time"))
