"""The least that draws eight heads of TOKENS tokens: raw bytes onto canvases. One button draws other numbers."""

import json
import os

import numpy as np
import streamlit as st

HEADS, TOKENS, WIDTH = 8, int(os.environ["TOKENS"]), 64

SHAPES = [(TOKENS, TOKENS)] * HEADS + [(HEADS * WIDTH, HEADS * WIDTH)] * HEADS  # a map a head, a matrix a head

DRAW = """
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".canvases");
  let start = 0;
  SHAPES.forEach(([height, width], n) => {
    const canvas = root.children[n] ?? root.appendChild(document.createElement("canvas"));
    canvas.width = width;
    canvas.height = height;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < width * height; i++) pixels[i] = 0xff000000 | (0x010101 * data[start + i]); // grey
    canvas.getContext("2d").putImageData(image, 0, 0);
    start += width * height;
  });
}
"""
draw = DRAW.replace("SHAPES", json.dumps(SHAPES))
canvases = st.components.v2.component("canvases", html='<div class="canvases"></div>', js=draw)

st.session_state.setdefault("changes", 0)
if st.button("Change"):
    st.session_state["changes"] += 1
generator = np.random.default_rng(st.session_state["changes"])
canvases(data=b"".join(generator.integers(0, 256, shape, dtype=np.uint8).tobytes() for shape in SHAPES), key="canvases")
