// Computes the layouts of the flow picture at all keyframes ("stops") of the animation, and between two of them.
import { blendLayouts, layOut, LEGIBLE_ROW } from "./layout.js";
import { clamp, easeInOut } from "./motion.js";
import { roleWidthOf } from "./role_choices.js";
import { LEAST_LABEL, textWidth } from "./words.js";

export const OPEN_HEIGHT = 88; // px: height of an opened cell's arithmetic until its content arrives
const LEAST_ROOM = 260; // px: least height of a picture that fills the screen, as in a presentation
const [WORD_PX, ASKS_PX] = [24, 15]; // font sizes at unit 1: of the words, and of the text below the query's word
const WIDEST_WORDS = 0.34; // most width of the words, as a share of the picture's; wider words get a smaller font
// most width of the words in the smallest font, as a share of the picture's; wider words are cut
const WIDEST_COLUMN = 0.45;
const BELOW = 96; // px: height of the caption and the timeline below the picture
const LEAST_FREE = 220; // px: least height of the picture on the workbench
const COMPACT_UNIT = 0.62; // least unit on a phone
const AROUND_ROWS = 96; // px: height of the columns' names and of the query's vectors on a phone
const MOST_WHOLE = 16; // most keys for which a picture on a phone is as high as legible rows need
// share of a keyframe's duration in which the previous layout changes to the layout of this keyframe
const MAKES_ROOM = 0.3;

export class Arrangement {
  // Computes this.layouts (one layout for each keyframe) at the current size; returns the sizes that layouts share.
  arrange(flow) {
    const { snapshot } = flow;
    const common = this.frameOf(flow);
    const { stops, parts } = snapshot;
    const made = new Set(stops.flatMap((stop) => stop.parts));
    const shown = new Set(parts.map((part) => part.name).filter((name) => !made.has(name)));
    this.layouts = stops.map((stop) => {
      stop.parts.forEach((name) => shown.add(name));
      const needsRoom = stop.motion === "power" || stop.motion === "share";
      const reserve = needsRoom ? Math.min(400 * common.unit, common.width * 0.38) : 0;
      return layOut(snapshot, { ...common, reserve, shown: new Set(shown), current: stop.parts });
    });
    return common;
  }

  // Returns the sizes and flags of the picture that are the same at every keyframe ("stop").
  frameOf({ width, heightBelow, stage, data, model, look, open, asking }) {
    const compact = width < 640;
    // px; null unless the picture fills the screen
    const room = data.fills ? Math.max(stage.clientHeight, LEAST_ROOM) : null;
    const rows = AROUND_ROWS + Math.min(model.keys.length, MOST_WHOLE) * LEGIBLE_ROW * COMPACT_UNIT; // px
    const least = compact ? Math.max(LEAST_FREE, rows) : LEAST_FREE; // px
    const free = data.hears ? Math.max(heightBelow - BELOW, least) : Infinity; // in px
    const most = Math.min(width / 1010, room ? room / 430 : free / data.height);
    const unit = clamp(most, compact ? COMPACT_UNIT : 0.8, room ? 4 : 1.75);
    const height = room ?? Math.min(data.height * (compact ? 0.8 : 1) * clamp(unit, 0.9, 1.75), free);
    const measure = (text, size, weight = 400) => textWidth(text, size * unit, weight);
    const asks = data.crossed ? 0 : measure(data.text.asks, ASKS_PX); // px: width of the text below the query's word
    const words = model.keys.slice(0, model.places.length); // without the row of all other words, which has free room
    const longest = Math.max(...words.map((word) => textWidth(word, 1, 700)));
    const wordSize = clamp((WIDEST_WORDS * width) / longest, LEAST_LABEL, Math.max(LEAST_LABEL, WORD_PX * unit));
    const wordWidth = Math.min(Math.max(asks, longest * wordSize) + 26 * unit, width * WIDEST_COLUMN);
    return {
      width, height, unit, compact,
      crossed: data.crossed,
      open:
        open && look.view === "flow" && !compact
          ? { row: model.findPart(open.step, open.index)?.row ?? "lane", height: open.height ?? OPEN_HEIGHT }
          : null,
      wordWidth, wordSize,
      roleWidth: data.roles ? roleWidthOf(data.roles, { wordWidth, width, compact }) : 0,
      endWidth: measure(`${asking}′`, 24, 700) + 26 * unit,
      headWidth: (part) => Math.max(measure(part.sign, 19, 700), measure(part.label, 13.5)) + 6 * unit,
    };
  }

  at(progress) {
    const last = this.layouts.length - 1;
    const stop = Math.min(last, Math.floor(progress));
    if (progress >= this.layouts.length || stop === 0) return this.layouts[progress >= this.layouts.length ? last : 0];
    return blendLayouts(this.layouts[stop - 1], this.layouts[stop], easeInOut(clamp((progress - stop) / MAKES_ROOM)));
  }
}
