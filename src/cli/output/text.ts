import { styleText } from "node:util";
import { visible } from "../../core/visible.ts";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** A piece of text with a style. Text is escaped when it is written, so nothing from outside can steer a terminal. */
export interface Styled {
  readonly style: Style;
  readonly text: string;
}

export type Segment = string | Styled;

function styled(style: Style): (text: string) => Styled {
  return (text) => ({ style, text });
}

export const bold = styled("bold");
export const dim = styled("dim");
export const red = styled("red");
export const green = styled("green");
export const yellow = styled("yellow");
export const cyan = styled("cyan");

/** Turns segments into one printable text: every segment escaped, then styled where colour is wanted. */
export function render(segments: readonly Segment[], colour: "on" | "off"): string {
  return segments
    .map((segment) => {
      if (typeof segment === "string") return visible(segment, "keep-lines");
      const text = visible(segment.text, "keep-lines");
      return colour === "on" ? styleText(segment.style, text, { validateStream: false }) : text;
    })
    .join("");
}

/** How many columns a text takes, wide characters ignored; used to align tables. */
export function widthOf(segment: Segment): number {
  return Array.from(visible(typeof segment === "string" ? segment : segment.text, "one-line"))
    .length;
}
