/** A text of the gateway whose words between backticks are shown as code. */
import { Code } from '@mantine/core'

/** Captured, so that splitting keeps them: each second part is code. */
const QUOTED = /`([^`]+)`/

export function CodeText({ text }: { readonly text: string }) {
  return text.split(QUOTED).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
      <Code key={index}>{part}</Code>
    ) : (
      part
    ),
  )
}
