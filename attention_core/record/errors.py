"""Defines AttentionError, the error of the core, and its English sentences by code.

An error has a code and values, from which a page writes a sentence in the visitor's language; a notebook shows the
English sentence. A sentence states what must hold, then what was given.
"""

from attention_core.record.counted_words import fill_template

REFUSAL_SENTENCES = {
    "not_a_tensor": "{name} must be a torch.Tensor: got {given}",
    "not_a_class": "{name} must be {expected}: got {given}",
    "not_dense": "{name} must be a dense tensor, which stores every number: got {given}",
    "no_arithmetic": "{name} must be float64, float32, bfloat16 or float16, which torch can compute with: got {given}",
    "not_floating": "{name} must hold floating-point numbers: got {given}",
    "not_finite": "{name} must be finite everywhere: {value} at {index}",
    "empty": "{name} must hold at least one number: its shape is {shape}",
    "dtype_differs": "all inputs must share one dtype: {name} is {given}, {other} is {expected}",
    "device_differs": "all inputs must lie on one device: {name} is on {given}, {other} on {expected}",
    "rank": "{name} must have the axes {axes}: its shape is {shape}",
    "rank_qkv": "{name} must be (T, d) or (B, H, T, d): {shape} could be (B, T, d) or (H, T, d); "
    "add the missing axis with unsqueeze(1) or unsqueeze(0)",
    "layout_unknown": "q, k and v must be (B, H, T, d) or (B, T, H, d), with as many values as keys, and with H a "
    "multiple of the key/value heads: their shapes are {shapes}",
    "inputs_count": "assert_attention takes x, or x and key, or q, k and v: got {given} tensors",
    "returned": "your function must return the output, (output, weights) or a dict of named steps: got {given}",
    "nothing_given": "there must be at least one step to compare: none was given",
    "rank_allowed": "{name} must be (T, S) or (B, H, T, S): {shape} could be (B, T, S) or (H, T, S); "
    "add the missing axis with unsqueeze(1) or unsqueeze(0)",
    "allowed_not_bool": "{name} must be a boolean tensor (allowed: True = may attend; keep: True = kept): got {given}",
    "bias_blocks": "bias must be finite everywhere, because a pair is blocked by allowed=False, not by a bias: -inf at "
    "{index}",
    "mask_square": "{name} must be (T, T), for one sequence that attends to itself: its shape is {shape}",
    "shape_fits_scores": "{name} must broadcast to (B, H, T, S) = {expected}: its shape is {shape}",
    "batch_differs": "query, key and value must have the same batch size: query is {query}, {name} is {shape}",
    "keys_values": "there must be as many values as keys: k is {k}, v is {v}",
    "widths_differ": "k must have the width of q: q is {q}, k is {k}",
    "projection_width": "{weight} must have as many rows as {name} has columns: {name} is {shape}, {weight} is {given}",
    "weight_shape": "{weight} must be {axes}: its shape is {shape}",
    "bias_width": "{bias} must have as many numbers as {weight} has columns: {bias} is {shape}, {weight} is {given}",
    "bias_alone": "{bias} needs {weight}: a bias is added to a projection, and there is none",
    "heads_split": "the width of {name} must be divisible by the number of its heads: width {width}, heads {heads}",
    "heads_groups": "heads must be divisible by kv_heads: heads {heads}, kv_heads {kv_heads}",
    "heads_given": "config and tensors must name the same number of heads: config says {given}, {name} has {heads}",
    "positive_integer": "{name} must be a positive whole number: got {given}",
    "whole_number": "{name} must be a whole number: got {given}",
    "not_negative": "{name} must be a whole number, 0 or more: got {given}",
    "not_listed": "{name} must be a tuple or a list of numbers: got {given}",
    "choice_form": "{kind} must be names or (name, parameters) pairs: got {given}",
    "positive_number": "{name} must be a finite number above 0: got {given}",
    "finite_number": "{name} must be a finite number: got {given}",
    "number_not_negative": "{name} must be a finite number, 0 or more: got {given}",
    "probability": "{name} must be at least 0 and below 1: got {given}",
    "category_word": "{token} stands for any word of its kind and cannot be typed: type one word of that kind",
    "words_unknown": "each word must be one that the model knows: it does not know {words}",
    "words_many": "at most {limit} words may be added: got {given}",
    "word_choice": "{name} must lie between {least} and {limit}: got {given}",
    "second_sentence": "the second sentence must begin at a token from 1 to {limit}, counted from 0, of maps of a text "
    "with itself: got {given}",
    "share_range": "{name} must be above 0 and at most 1: got {given}",
    "unknown_choice": "{name} must be one of {choices}: got {given}",
    "unknown_parameter": "{kind} takes {choices}: got {given}",
    "missing_parameter": "{kind} needs {name}",
    "chosen_twice": "{kind} may be chosen only once: it was chosen twice",
    "never_seen": "every symbol must be one that the network was trained on ({known}): got {given!r}",
    "learned_empty": "there must be at least one symbol: the text is empty",
    "model_too_long": "the model reads at most {limit} words: these are {given}",
    "learned_too_long": "a text must have at most {limit} symbols: it has {given}",
    "no_attention": "a network with one context vector has no attention to look at",
    "network_away": "a network that was trained here is kept only for a while: {name} was trained before the app "
    "was restarted, or too many others were trained after it; training it again gives the same network",
    "training_diverged": "all numbers of a training run must stay finite: at step {step} one did not; a smaller "
    "learning rate or another seed may help",
    "decoding_not_causal": "decoding needs a causal or sliding mask without an offset: later tokens do not exist yet",
    "decoding_drops": "decoding keeps every weight: dropout belongs to training",
    "blockwise_maps": "computing block by block needs a single map: leave out differential attention, which has two",
    "blockwise_normaliser": "computing block by block needs 'softmax' or 'sinks': {kind!r} has no running maximum "
    "and sum",
    "needs_positive": "{kind!r} divides each score by the sum of its row, so none may be below 0: use it with the "
    "score 'linear', without a bias or positions that are added to scores, and without a factor or a chosen score "
    "below 0",
    "queries_keys": "a recurrence needs as many queries as keys: got {queries} queries, {keys} keys",
    "needs_linear": "the recurrence needs a causal run with the score 'linear' and the normaliser 'share'",
    "seen_tokens": "there are {limit} tokens: {given} cannot be seen",
    "needs_softmax": "{what} needs the weights of a softmax",
    "blockwise_weights": "computing block by block keeps no weights: use neither dropout nor replace",
    "scale_stays": "only dot and general scores, which are a product with q, can be scaled before that product",
    "slope_points": "a slope needs one time per length, all above 0, and at least two different lengths: "
    "got {lengths} and {seconds}",
    "offsets_differ": "causal masks must agree on one offset: got {given}",
    "lengths_count": "{name} must hold a number for each of the {batch} sequences: got {given}",
    "lengths_range": "{name} must lie between 0 and S = {keys}: got {given}",
    "tokens_range": "{name} must lie between 0 and {last}, the last position: got {given}",
    "missing_weight": "{kind!r} needs {weight}",
    "unowned_weight": "{weight} has no place here: {kind!r}, which would read it, is not chosen",
    "unused_weight": "{weight} has no place here: {why}",
    "buckets": "the number of buckets must be a multiple of {multiple}, at most {most} for a farthest distance of "
    "{farthest}: got {given}",
    "rows_odd": "there must be one row for each distance from -K to K, an odd number: got {given}",
    "even_halves": "differential attention cuts q and k into halves, so their width must be even: it is {width}",
    "even_width": "{kind} rotates numbers in pairs, so the width must be even: it is {width}",
    "rope_columns": "RoPE rotates columns in pairs: their number must be even and at most {width}: got {given}",
    "pair_factors_count": "RoPE multiplies the angle of each of its {pairs} pairs of columns by a factor of its own: "
    "got {given} factors",
    "odd_window": "a window around a position has as many places before it as after it, so its width must be odd: "
    "it is {given}",
    "few_places": "a learned table has a row for each place, from 0 on: {rows} rows do not cover the places {first} to "
    "{last}",
    "slopes_count": "ALiBi needs one slope for each of the {heads} heads: got {given}",
    "no_input": "{kind!r} reads the input from which q, k and v are computed: here q, k and v were given directly",
    "too_many_terms": "a general score of widths {q} and {k} is a sum of {q} × {k} products, and at most {limit} can "
    "be shown: use more heads, or narrower q and k",
    "text_too_long": "a text may have at most {limit} characters: this one has {given}",
    "link_too_long": "with this change the address of the screen would have {given} characters, but at most {limit} "
    "can be opened again: use fewer numbers, or fewer digits",
    "link_cannot_say": "{name} must be something that the address of the screen can hold: got “{given}”",
    "not_tried": "there was no time left to try it, because too much else is wrong",
    "file_too_long": "a saved screen may have at most {limit} characters: this one has {given}",
    "file_not_json": "a saved screen must be JSON in UTF-8: this file is not",
    "file_nested": "a saved screen must be one object of texts: this one is nested too deeply to be read",
    "file_twice": "each part of a file may occur only once: {name} occurs twice",
    "file_format": 'a saved screen must say "format": "{expected}" and its version, a whole number: this one does not',
    "file_version": "the version of a file must be at most {limit}, the newest known here: this one is {given}",
    "file_text": "each part of a file must be a text in double quotes: {name} is not",
    "lecture_too_long": "a lecture may have at most {limit} characters: this one has {given}",
    "lecture_format": 'a lecture must say "format": "{expected}", its version, its title and its scenes: this file '
    "does not",
    "lecture_link": "a lecture in a link must be complete and unchanged: this one was cut or changed",
    "too_many_scenes": "a lecture may have at most {limit} scenes: this one has {given}",
    "scene_part": "{name} of scene {number} is not what it has to be: title, note and question are texts (of at most "
    "120, 2000 and 300 characters), steps a list of symbol, shapes, cell or map, minutes a multiple of 0.5 from 0 to "
    "120, setup an object of texts, kind one of workbench, lesson, code, text and picture; each kind has its own parts",
    "picture_bytes": "a picture may have at most {limit} bytes: this one has {given}",
    "picture_kind": "a picture must be a PNG or a JPEG file: this one is neither",
    "picture_size": "a picture may be at most {limit} pixels wide and high: this one is {width} by {height}",
    "pictures_too_large": "the pictures of a lecture may have at most {limit} bytes together: these have {given}",
    "address_form": "{name} must be an http or https address without a query: it is “{given}”",
    "hidden_too_large": "the tanh layer would need {needed} bytes, but the limit is {limit}: "
    "use fewer tokens or a narrower layer",
    "jacobian_too_large": "the Jacobians of all rows would need {needed} bytes, but the limit is {limit}: "
    "use fewer tokens or heads",
    "ids_form": "ids must be whole numbers, one per word, or lists of equal length: got {given}",
    "ids_range": "each id must be a row of the table, from 0 to {last}: got {given}",
    "no_layers": "a stack must have a layer, or an embedding: it has neither",
    "layers_count": "there must be weights for each of the {layers} layers: got {given}",
    "memory_missing": "a layer with cross-attention reads the output of an encoder, which must be given as memory",
    "memory_unused": "only cross-attention reads memory, and no layer has cross-attention",
    "parallel_layer": "a parallel layer needs attention and a feed-forward layer, both with residual=True, and no "
    "cross-attention",
    "recorded_shape": "what is recorded must have the shape of the vectors x, {axes}: got {shape}",
    "stream_unused": "stream is what the residual adds the output to: it needs residual=True",
    "stream_shape": "stream must have the shape of the output, {axes}: got {shape}",
    "no_residual": "vectors are a sum of parts only if each part has a residual: {part} has none",
    "no_such_head": "there is no head {given} in {part}: None stands for a feed-forward layer, "
    "heads are counted from 0",
    "changed_twice": "a head or a feed-forward layer can be changed only once: {part}, head {head} is changed twice",
    "pair_outside": "a blocked pair (query, key) must lie inside the map of shape {shape}: got {given}",
    "other_missing": "the other sentence, whose weights {part} takes, must be given",
    "other_length": "the other sentence must have as many words as this one, {expected}: it has {given}",
    "no_word_sum": "a head's change of a logit is a sum over words only if its values go through W_o alone and one "
    "norm at the end: {part} is different",
    "no_vectors": "a word must have a vector: here “{token}” has none, because the vectors of this example come from a "
    "network that reads two sentences",
    "part_missing": "{name} needs {part}, and the stack has {choices}",
    "step_twice": "a step that is added must have a new name: {name} is there already",
    "one_draw": "a variance needs at least 2 draws: it got 1",
    "keep_without_dropout": "keep belongs to dropout: set dropout in the config",
    "zero_vector": "the x of the word must not be all zeros: every matrix turns it into zeros",
    "no_input_residual": "the residual adds x to the output, and q, k, v were given without it",
    "residual_width": "the residual adds {name} to the output, so both must be equally wide: "
    "{name} has {width} columns, the output {given}",
    "replacement_twice": "weights can be replaced only once: by replace={given!r} or by a tensor, not by both",
    "map_axes": "{name} must have the axes (T, S), (H, T, S) or (L, H, T, S), or a batch before them: its shape "
    "is {shape}",
    "maps_missing": "{name} must hold attention maps: it has {choices}, none of which is named like maps",
    "too_many_map_heads": "at most {limit} heads fit on a page, all layers together: the file has {given}",
    "map_side": "{name} may have at most {limit} queries and keys: it has {given}",
    "map_magnitude": "the numbers of {name} must lie between -{limit} and {limit}",
    "words_form": "the words of {name} must be texts, one per token: the list also holds something else",
    "words_pickled": "the words of {name} must be texts, as np.array(words, dtype=str) saves them: these are pickled "
    "Python objects, which can run code when they are read",
    "maps_texts": "{name} must hold the numbers of attention maps: it holds texts, “{given}”",
    "layer_empty": "each layer of {name} must hold numbers: layer {layer} holds nothing",
    "words_count": "the file needs {size} words for its axis {axis}, one each: it has {given}",
    "labels_count": "axis {dim} needs {size} labels: got {given}",
    "index": "an index into {name} needs {axes}, each below {shape}: got {given}",
    "at_most": "{name} must be at most {limit}: got {given}",
    "role_missing": "{role} must be one of the arrays of the file: it has {choices}",
    "maps_alone": "the file must hold q, k and v: it holds attention maps, {name}, which the page of maps shows",
    "mask_readings": "{name} must have one meaning: its shape {shape} and its name allow several, which block "
    "different pairs; choose one",
    "mask_not_additive": "a mask of whole numbers must be 0 where a pair is allowed, and {limit} or less where it is "
    "not; numbers to add to the scores must be floating-point numbers",
    "mask_lengths": "{name} must be one whole number from 0 to {keys} for each of the {sequences} sequences: its shape "
    "is {shape}",
    "part_outside": "{name} must lie inside the file, which has {size}: got {given}",
    "part_groups": "heads are chosen in groups of {share}, which share one key/value head",
    "layer_too_large": "the vectors and matrices of a layer may take {limit} MB on the workbench: "
    "these take {given} MB",
    "text_closed": "the model {name} was closed, as another was opened or its memory was needed: open it again on the "
    "page Maps of a model",
    "no_mask": "the model must have a mask, [MASK] or <mask>, in its vocabulary: it has neither",
    "layer_away": "the layer of this screen is no longer kept: open it again on the page Maps of a model",
    "uploads_full": "the files of all visitors must fit into {limit} MB together: with this one they do not; try again "
    "when others have left",
    "worker_ended": "the process that does this work must run until it is done, and take at most {limit} seconds: it "
    "has ended; the next try starts another one",
    "file_away": "the tensors of this screen are in a file that is no longer here: upload it again",
    "too_many_sentences": "a batch may have at most {limit} sentences: it has {given}",
    "no_tokens": "the text must hold at least one word: it is empty",
    "too_many_tokens": "a text may have at most {limit} tokens: this one has {given}. Every pair of tokens is a cell, "
    "and at most {limit} x {limit} cells are drawn",
    "too_many_logits": "at most {limit} numbers can be read here: got {given}",
    "lesson_tokens": "a sentence in a lesson may have at most {limit} tokens, so that each of its numbers can be read: "
    "this one has {given}. The workbench takes more",
    "exercise_size": "an exercise may have at most {limit} numbers per step, {across} in a row: {name} has {given}, "
    "{wide} in a row. Take a shorter sentence, or smaller matrices",
    "exercise_file": "an exercise is kept in a link, and tensors from a file do not fit into one",
    "exercise_paper": "a sheet of paper has room for matrices of {limit} x {limit} and {most} heads: {name} is "
    "{given}, and there are {heads}",
    "one_word": "type one word: “{given}” has {count}",
    "too_many_pairs": "sentences x heads x queries x keys may be at most {limit} numbers: "
    "{B} x {H} x {T} x {S} is more",
    "token_too_long": "a token may have at most {limit} characters: {token} has {given}",
    "token_form": "a token must not be empty, hold | or have spaces around it: got “{given}”",
    "matrix_empty": "{name} must hold at least one number: there is none",
    "matrix_text_too_long": "the text of {name} may have at most {limit} characters: it has {given}",
    "too_many_rows": "{name} may have at most {limit} rows: it has {given}",
    "too_many_columns": "{name} may have at most {limit} columns: it has {given}",
    "brackets": "the brackets of {name} must be closed and at most two deep, with nothing between rows: got “{given}”",
    "not_understood": "{name}, line {line}: “{given}” could change the numbers and is not understood; leave it out, or "
    "write the numbers that it gives",
    "numbers_left_out": "{name}, line {line}: “{given}” leaves numbers out. Print all of them: "
    "np.set_printoptions(threshold=np.inf), torch.set_printoptions(profile='full'), or .tolist()",
    "cells_count": "{name} must have {expected} numbers: it has {given}",
    "blocks_differ": "the blocks of columns of {name} must have equally many rows: they have {lengths}",
    "ambiguous_head": "{name}: is the first row, “{given}”, a header, or a row of numbers?",
    "ambiguous_index": "{name}: is the first column, “{given}”, a number for each row, or a column of the matrix?",
    "ambiguous_rows": "{name}: are these {rows} rows, or one row of {given} numbers that was printed on {rows} lines?",
    "several_matrices": "{name} must be one matrix: the text holds several, {given}. Which one is meant?",
    "not_a_number": "{name}, row {row}, column {column}, must be a number: got “{given}”",
    "ambiguous_comma": "{name}, row {row}, column {column}: does “{given}” mean {first}, or {second}? Write it with a "
    "point, or without the comma",
    "cell_not_finite": "{name}, row {row}, column {column}, must be finite: got “{given}”",
    "too_large": "{name}, row {row}, column {column}, must lie between -{limit} and {limit}, so that the "
    "numbers stay readable: got “{given}”",
    "precision_limit": "{name}, row {row}, column {column}, must lie between -{limit} and {limit}, the largest "
    "numbers of {dtype}: got {given}",
    "ragged": "all rows of {name} must be equally long: the rows have {lengths} numbers",
    "cell_empty": "{name}, row {row}, column {column}, must be a finite number: it was emptied; the old number stays",
    "edit_form": "a changed cell of {name} must read row.column=number and lie inside it: got “{given}”",
    "puzzle_closed": "{name}, row {row}, column {column}, may not be changed in this puzzle: it stays {expected}, "
    "got {given}",
    "puzzle_other": "only numbers of {choices} may be changed in this puzzle: {name} differs from the start",
    "file_ending": "{name} must end in one of {endings}",
    "file_empty": "{name} must hold at least one number: it is an empty file",
    "file_too_large": "{name} may have at most {limit} bytes: it has {given}",
    "not_text": "{name} must be text in UTF-8, or in UTF-16 with its byte order mark: it is not",
    "not_json": "{name} must be JSON: it can be read as JSON only up to line {row}, column {column}",
    "json_signs": "{name} may contain the sign {sign} at most {limit} times, so that it can be read fast: it "
    "has {given}",
    "json_value": "{name} must hold only numbers, or only true and false, all equally deep: {given} at {index}",
    "lists_too_deep": "the lists of {name} may be nested at most {limit} deep: they are nested deeper",
    "file_nested_deep": "the objects of {name} may be nested at most {limit} deep: they are nested deeper",
    "lists_differ": "all lists of {name} that are equally deep must be equally long: one has {expected} items, "
    "another {given}",
    "npy_header": "{name} must begin with the header of an NPY file that gives type, order and shape: it does not",
    "header_too_long": "the header of {name} may have at most {limit} bytes: it has {given}",
    "array_pickled": "{name} must hold numbers: it holds pickled Python objects, which can run code when they are "
    "read; save it with a numeric type",
    "array_type": "{name} must hold real numbers of at most 64 bits, or booleans: its type is {given}",
    "array_axes": "{name} may have at most {limit} axes: it has {given}",
    "array_bytes": "the numbers of {name} must take the {expected} bytes that its type and shape need: there are "
    "{given}",
    "too_many_numbers": "{name} may hold at most {limit} numbers: it has {given}",
    "not_npz": "{name} must be an NPZ file, which is a zip archive: it cannot be unpacked",
    "member_name": "{name} must hold files name.npy and nothing else: got {given}",
    "member_packing": "{name} must be packed as NumPy packs, stored or deflated and without a password: {given} is not",
    "unpacked_too_large": "{name} may have at most {limit} bytes when unpacked: it has {given}",
    "not_safetensors": "{name} must be a safetensors file whose header describes all its bytes: it is not",
    "folder_missing": "{name} must be a folder on this machine: it is not",
    "folder_outside": "a folder must lie inside one that may be opened here: {name} does not",
    "folder_file_outside": "every file of the folder must lie inside a folder that may be opened: {name} leads out of "
    "it",
    "folder_file_missing": "the folder must hold {name}: it does not",
    "folder_file_unreadable": "{name} must be a file that can be read: it cannot",
    "folder_changed": "the files of a model must stay as they are while it is open: {name} has changed or is gone",
    "json_object": "{name} must be one JSON object in UTF-8: it is not",
    "weights_missing": "the folder must hold its weights as {name}, or their index, {index}: it holds neither",
    "weights_pickled": "weights must be stored as safetensors: {name} holds pickled Python objects, which can run code "
    "when they are read",
    "weights_index": "weight_map of {name} must name, for each tensor, a safetensors file of this folder: it says "
    "{given}",
    "index_tensor": "{name} must list the tensors of its files, each with the file that holds it: this is not so for "
    "{tensor}",
    "weight_type": "weights must be float32, bfloat16 or float16, and other numbers whole: {name} is {given}",
    "weights_differ": "the weights must be those that config.json asks for: {missing} tensors are missing, "
    "{unexpected} are not asked for, and {mismatched} have another shape, {name} among them",
    "class_ignored": "config.json names {given}, which is no model of transformers or lacks a part that the folder "
    "holds: the model is opened as {name}",
    "weights_few": "the weights must be all that config.json asks for, {expected} bytes: the folder holds {given}",
    "weights_many": "the weights must be no more than config.json asks for, {expected} bytes: the folder holds {given}",
    "model_memory": "a model may take at most {limit} bytes of memory here: this one takes {given} or more",
    "too_many_modules": "a model may have at most {limit} parts: this one has more",
    "model_quantised": "the weights must not be quantised: config.json has {name}, which needs further packages",
    "model_type_missing": "{name} must say the type of the model, as a text called model_type: it does not",
    "model_type_unknown": "model_type must be one that transformers {version} knows, since code that comes with a "
    "model is never run: {name} says {given}",
    "model_class": "config.json must name a class of its own type of model: {given} is none of {kind}",
    "config_refused": "config.json must describe a model that can be made: {given}",
    "models_package": "opening a model needs {name}: pip install -r requirements-models.txt",
    "nothing_named": "a model must be named, by its folder or its name on the hub: the name is empty",
    "hub_name": "a model of the hub must be named as owner/name or owner/name@revision: got {given}",
    "hub_missing": "the hub must have the model {name}: it has none, or one that it shows to its owners alone",
    "hub_revision": "the model {name} must have the revision that is asked for: it has no {given}",
    "hub_gated": "the model {name} must be open to whoever asks: its owners ask for consent to their terms, on its "
    "page of the hub, and then for `hf auth login` on this machine",
    "hub_files": "the model {name} must have {given} on the hub, since nothing else is read: it has not",
    "hub_large": "the files of a model may have at most {limit} bytes: those of {name} have {given}",
    "hub_disk": "the disk must have {limit} bytes free, those of the model and some to spare: it has {given}",
    "hub_disk_full": "the disk of {name} must have room for the model: it is full. What was fetched stays",
    "hub_cache": "the hub's cache must be a folder that can be written: {name} cannot ({given})",
    "hub_broken_off": "the connection to {name} must hold until the last byte: it broke off ({given}). What was "
    "fetched stays, and the next download goes on behind it",
    "hub_answer": "{name} must answer as the hub does: it answered {given}",
    "hub_elsewhere": "files must come from {name} or from a host of the hub's own: they were to come from {given}, "
    "which was not asked",
    "hub_differs": "the bytes of {name} must be those whose checksum the hub names: they are not, and were thrown away",
    "hub_offline": "requests to the hub must be allowed on this machine: HF_HUB_OFFLINE forbids them",
    "hub_process": "the process that fetches a model must end by itself: it ended with {given}",
    "hub_busy": "at most {limit} models may be fetched at a time: try again when one of them is there",
    "code_ignored": "{name} names code that comes with the model; it is not run, and the model is one of transformers",
    "implementation_ignored": "{name} asks for an implementation of its own; it is not fetched, and the attention is "
    "eager, step by step",
    "weights_widened": "the weights are stored in {given} and computed with in float32, which holds each of them "
    "exactly",
    "tokenizer_missing": "the folder must hold {name}, so that a text can be cut into the pieces of the model: it does "
    "not",
    "tokenizer_slow": "the folder must hold its tokenizer as {name}: it holds {given} alone, which needs further "
    "packages",
    "tokenizer_unread": "tokenizer.json must be a tokenizer that can be read: it cannot ({given})",
    "tokenizer_grows": "a tokenizer may make a text at most {limit} times as long: its {name} can make it longer",
    "tokenizer_word": "a tokenizer may split words of at most {limit} characters, because longer ones take too long: "
    "max_input_chars_per_word is {given}",
    "tokenizer_fails": "the tokenizer of the model must cut every text: it fails at this one ({given})",
    "too_many_pieces": "the model reads at most {limit} pieces at once: this text has {given}",
    "no_pieces": "the text must give the model at least one piece: it gives none",
    "piece_unknown": "every piece must be one of the {limit} that the model has: {name} is number {given}, counted "
    "from 0",
    "no_arrays": "{name} must hold at least one array: there is none",
    "too_many_arrays": "{name} may hold at most {limit} arrays: it has {given}",
    "array_twice": "every array of {file} must have a different name: {name} is there twice",
    "which_array": "{file} must hold one array, or one called {name}: it holds {choices}; choose one",
    "not_blocked_or_finite": "{name} must hold finite numbers or -inf: {value} at {index}",
    "export_too_large": "a {kind} file may hold at most {limit} numbers: these are {given}",
    "model_run": "the model could not read this text: {given}",
    "text_too_wide": "of this model at most {limit} pieces of a text are shown, because every head has a map of all "
    "pairs: this text has {given}",
    "model_input": "the model must read text: it reads {given}",
    "model_no_module": "the model must be a torch.nn.Module: it is of the type {given}",
    "values_of_words": "each layer must project its values from its own input, as those of stock models do: the last "
    "layer of this model projects them from the word embeddings",
    "model_trains": "the model must be in eval mode, without dropout: call model.eval() first",
    "no_attention_recorded": "the model must compute attention, a softmax whose weights mix values: {reasons}",
    "no_softmax_found": "no softmax was computed",
    "softmax_mixes_nothing": "{layer}: a softmax over {shape} meets no values",
    "layer_without_softmax": "{layer}: computes no attention by a softmax",
    "scores_of_no_product": "{layer}: the scores are made of no product of two tensors",
    "scores_go_through": "{layer}: the scores go through {operation}, which is not read",
    "scores_shape": "{layer}: what is added to the scores {expected} has the shape {shape}",
    "scores_replaced": "{layer}: {given} replaces some scores, and is not low enough to block them",
    "heads_unknown": "{layer}: weights {weights} and scores {scores} have no batch and heads in common",
    "weights_apart": "a weight is {given} apart, and rounding explains {limit}",
    "model_not_finite": "every weight and output of a model must be finite: in this layer one is not, so that nothing "
    "can be compared",
    "layer_not_finite": "{layer}: every number that the model computes must be finite: its {name} is {value} "
    "at {index}",
    "run_too_large": "a model may take {limit} MB of memory while it reads a text: this text of {count} pieces would "
    "take about {given} MB",
    "model_no_room": "a model must fit into the free memory of this machine, {limit} MB: this one takes {given} MB",
    "model_draws_numbers": "a second run must compute the same numbers as the recorded one: this model draws random "
    "numbers while it runs",
    "output_apart": "an output is {given} apart, and rounding explains {limit}",
    "stack_no_end": "the model must return logits or vectors of its words, from which its layers are followed back",
    "stack_layers": "each of the {count} attention layers must add to the vectors before it: {given} of them were "
    "found, back to {layer}",
    "stack_changed": "what a layer computes must be added as it is: that of {layer} is changed before",
    "stack_reads": "a layer must read the vectors before it, or one norm of them: {layer} reads something else",
    "stack_given": "the {given} of each layer must have a name here: that of {layer} has none",
    "stack_feed_forward": "what is added must come from attention, or from a feed-forward layer with one of the "
    "activations {choices} and no bias of a gate: at {layer} it does not",
    "stack_heads": "all layers must have the same number of heads: these have {given}",
    "text_not_recorded": "the model must have read this text: only the recorded text and, if each word reads only "
    "those before it, its beginnings are kept; open another text on the page Maps of a model",
    "whole_too_large": "the whole model must take at most {limit} MB in 64-bit numbers: it takes {given} MB",
    "stream_no_sum": "the vectors at the end must be a sum of what layers added: {layer} computed them in another way",
    "sum_too_large": "the sum of all parts must take at most {limit} MB while it is computed: it takes {given} MB",
    "part_apart": "the end lies {given} apart from what the model recorded; rounding explains {limit}",
    "weights_not_mixing": "the weights that the model hands out do not give its output",
    "no_model": "the recording must come from record(model, ...): it holds no model whose matrices could be found",
    "no_head_in_layer": "there is no head {given} in layer {layer} of this model; both are counted from 0",
    "heads_watched": "heads are switched off only in models whose attention all goes through the interface of "
    "transformers: {layer} does not",
    "heads_of_no_map": "{name} is not made of x by one linear map, alone or with a norm of the heads and RoPE",
    "heads_normed": "{name} is normed in another way than the core norms q and k alike: an RMS norm or LayerNorm of "
    "each head, or an RMS norm of all heads together",
    "rope_in_part": "at least {given} of {width} columns of each head are rotated, but by none of the core's kinds of "
    "RoPE with numbers of the config",
    "latent_bias": "the maps to compressed keys and values, and to the columns that RoPE rotates, have no bias in the "
    "core: here one has",
    "rope_unknown": "q and k are rotated by none of the core's kinds of RoPE with numbers of the config",
    "numbers_alone": "words need vectors, and the code of {name} only draws numbers: no sentence can be typed there",
    "no_input_words": "words need vectors, and {name} gives q, k and v directly: there is no x to change",
}


class AttentionError(ValueError):
    """An error in what a caller passed to the core, with `code`, `values`, and the English sentence as its message.

    >>> error = AttentionError("widths_differ", q=(5, 4), k=(7, 3))
    >>> print(error)
    k must have the width of q: q is (5, 4), k is (7, 3)
    """

    def __init__(self, code: str, **values):
        self.code, self.values = code, values
        super().__init__(fill_template(REFUSAL_SENTENCES[code], values))

    def without_frames(self) -> "AttentionError":
        """Remove the traceback from the error and return the error, because a traceback would keep its frames' values
        in memory.

        >>> try:
        ...     raise AttentionError("file_away")
        ... except AttentionError as error:
        ...     kept = error.without_frames()
        >>> kept.__traceback__ is None, kept.code
        (True, 'file_away')
        """
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    def __reduce__(self):
        return _rebuild, (self.code, self.values)


def _rebuild(code: str, values: dict) -> AttentionError:
    return AttentionError(code, **values)
