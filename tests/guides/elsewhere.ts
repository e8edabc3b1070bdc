/**
 * The commands of the guides that are not run beside the others, each with its reason and, where
 * there is one, the script of package.json that runs it.
 */

export interface Elsewhere {
  readonly page: string
  /** How the commands begin. */
  readonly begins: string
  readonly reason: string
  readonly runBy?: string
}

const PAGES = 'docs/guides'

export const ELSEWHERE: readonly Elsewhere[] = [
  {
    page: 'README.md',
    begins: 'npm start',
    reason: 'is a start from a clone: tests/cli/installation.test.ts and tests/console/journeys',
  },
  { page: 'README.md', begins: 'npm test', reason: 'is the run that this test is a part of' },
  {
    page: `${PAGES}/clients.md`,
    begins: 'qwen ',
    reason: 'is another program, installed from the registry',
    runBy: 'prove:clients',
  },
  {
    page: `${PAGES}/clients.md`,
    begins: 'cline ',
    reason: 'is another program, installed from the registry',
    runBy: 'prove:clients',
  },
  {
    page: `${PAGES}/deploy.md`,
    begins: 'docker compose ',
    reason: 'needs a container engine and a registry of images',
    runBy: 'prove:compose',
  },
  {
    page: `${PAGES}/deploy.md`,
    begins: 'kubectl ',
    reason: 'needs a cluster; the objects are validated without one',
    runBy: 'prove:chart',
  },
  {
    page: `${PAGES}/deploy.md`,
    begins: 'helm ',
    reason: 'needs a cluster; the chart is rendered and validated without one',
    runBy: 'prove:chart',
  },
  ...[
    'useradd ',
    'mkdir /opt/',
    '(cd /opt/',
    "printf 'DATABASE_URL",
    'install ',
    'cp /opt/',
    'systemctl ',
    'systemd-run ',
    'cat /var/lib/',
  ].map((begins) => ({
    page: `${PAGES}/deploy.md`,
    begins,
    reason: 'installs a service into the machine, as root',
  })),
  {
    page: `${PAGES}/simulators.md`,
    begins: 'node simulators/main.ts',
    reason: 'runs until it is stopped; every test starts the same simulators',
  },
  {
    page: `${PAGES}/tokens-for-agents.md`,
    begins: 'curl -s "https://acme.okta.com',
    reason: 'asks a directory on the internet; tests/sign-in has an issuer of its own',
  },
  ...['ssh-keygen ', 'sha256sum ', 'node -p ', 'npm run release'].map((begins) => ({
    page: `${PAGES}/verify.md`,
    begins,
    reason: 'needs a release, whose build takes minutes',
    runBy: 'prove:release',
  })),
]

export function isElsewhere(place: string, text: string): boolean {
  return ELSEWHERE.some(({ page, begins }) => {
    return place.startsWith(`${page}:`) && text.startsWith(begins)
  })
}
