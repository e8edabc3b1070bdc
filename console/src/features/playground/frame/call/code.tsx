/** The request of the form as code, in the reader's language. */
import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { TextLink } from '../../../../components/links.tsx'
import { Panel } from '../../../../components/page/panel.tsx'
import { CodeSnippet } from '../../../../components/text/code-snippet.tsx'
import { useMessages } from '../../../../lib/i18n.tsx'
import { printCurl } from '../../snippets/curl.ts'
import { printNode } from '../../snippets/node.ts'
import { printPython } from '../../snippets/python.ts'
import { KEY_VARIABLE } from '../../snippets/snippet.ts'
import { messages } from '../messages.ts'
import type { PlaygroundRequest } from '../order.ts'

const PRINTERS = { curl: printCurl, Python: printPython, Node: printNode } as const
type Language = keyof typeof PRINTERS
const LANGUAGES: readonly Language[] = ['curl', 'Python', 'Node']

export function Code({ order }: { readonly order: PlaygroundRequest }) {
  const t = useMessages(messages)
  const [language, setLanguage] = useState<Language>('curl')
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label={t('language')}
      data={[...LANGUAGES]}
      value={language}
      onChange={setLanguage}
    />
  )
  return (
    <Panel title={t('code')} aside={choice}>
      <Stack gap="xs">
        <CodeSnippet code={PRINTERS[language]({ order, origin: location.origin })} />
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            {t('keyNote', { variable: KEY_VARIABLE })}
          </Text>
          <TextLink to="/keys" size="xs">
            {t('toKeys')}
          </TextLink>
        </Group>
      </Stack>
    </Panel>
  )
}
