/** Sample code that verifies a webhook: signature and timestamp, in constant time. */
import { Accordion, Tabs } from '@mantine/core'
import { Panel } from '../../components/page/panel.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto'

// rawBody: the bytes as received, before any parsing.
export function isGenuine(headers, rawBody, secret) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const mac = createHmac('sha256', secret).update(timestamp + '.').update(rawBody)
  const expected = Buffer.from('sha256=' + mac.digest('hex'))
  const given = Buffer.from(headers['x-service-signature'] ?? '')
  return expected.length === given.length && timingSafeEqual(expected, given)
}`

const PYTHON = `import hashlib, hmac, time

# raw_body: the bytes as they came, before any parsing.
def is_genuine(headers, raw_body, secret):
    timestamp = headers.get("X-Service-Timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    mac = hmac.new(secret.encode(), f"{timestamp}.".encode() + raw_body, hashlib.sha256)
    given = headers.get("X-Service-Signature", "")
    return hmac.compare_digest("sha256=" + mac.hexdigest(), given)`

const GO = `// rawBody: the bytes as received, before any parsing.
func isGenuine(header http.Header, rawBody []byte, secret string) bool {
	timestamp := header.Get("X-Service-Timestamp")
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-at)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(header.Get("X-Service-Signature")))
}`

const SNIPPETS = [
  ['Node', NODE],
  ['Python', PYTHON],
  ['Go', GO],
] as const

export function Verify() {
  const t = useMessages(messages)
  return (
    <Panel flush>
      <Accordion chevronPosition="right">
        <Accordion.Item value="verify">
          <Accordion.Control>{t('verify')}</Accordion.Control>
          <Accordion.Panel>
            <Tabs defaultValue="Node">
              <Tabs.List mb="xs">
                {SNIPPETS.map(([name]) => (
                  <Tabs.Tab key={name} value={name}>
                    {name}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {SNIPPETS.map(([name, code]) => (
                <Tabs.Panel key={name} value={name}>
                  <CodeSnippet code={code} />
                </Tabs.Panel>
              ))}
            </Tabs>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Panel>
  )
}
