/**
 * Rules for new passwords: long, and not among the first ones that an attacker would try. Any
 * character is allowed.
 */
import { invalidField } from '../../../base/lib/errors.ts'

const LENGTH_MIN = 12
const LENGTH_MAX = 128
/** The minimum number of distinct characters; a password with fewer is a pattern. */
const VARIETY_MIN = 5
const LETTER = /[^\d\s\p{P}\p{S}]/u

/** Common passwords in lower case, without digits, spaces and punctuation at their ends. */
const COMMON = new Set(
  `password passwordpassword passw0rd p@ssw0rd p@ssword passwort motdepasse contrasena mypassword
  thisisapassword changeme changemeplease changemenow letmein letmeinplease letmeinnow iloveyou
  iloveyouforever iloveyousomuch administrator administration admin adminadmin superadmin root
  rootroot superuser welcome welcomeback welcomehome qwerty qwertyuiop qwertyqwerty qwertyuiopasd
  qwertyuiopasdfghjkl asdfghjkl asdfghjklzxcvbnm zxcvbnm zxcvbnmasdfghjkl qazwsxedcrfv qazwsxedc
  q1w2e3r4t5y6 1q2w3e4r5t6y 1qaz2wsx3edc 1q2w3e4r5t6y7u8i abcdefghijkl abcdefghijklmnop
  abcdefghijklmnopqrstuvwxyz abcd1234abcd abc123abc123 aa123456789a a123456789a princess sunshine
  football baseball basketball monkeymonkey dragondragon masterpassword mastermaster trustnoone
  computer internet interneting correcthorsebatterystaple correct-horse-battery-staple
  supersecretpassword secretpassword topsecret supersecret testtesttest testpassword temppassword
  temporarypassword defaultpassword userpassword woaini woaiwoziji woshishei nihao zhongguo
  tributary tributarytributary`.split(/\s+/),
)

/**
 * Throws a 400 that names `field` for a password that is too short, too long, common, or derived
 * from the person's own data.
 */
export function checkPassword(password: string, email: string, field = 'password'): void {
  const length = [...password].length
  if (length < LENGTH_MIN) throw invalidField(field, `needs at least ${LENGTH_MIN} characters`)
  if (length > LENGTH_MAX) throw invalidField(field, `has more than ${LENGTH_MAX} characters`)
  if (isGuessed(password.toLowerCase(), email.toLowerCase())) {
    throw invalidField(field, 'is easy to guess: choose another')
  }
}

function isGuessed(password: string, email: string): boolean {
  const [local = ''] = email.split('@')
  const characters = [...password]
  const first = characters.findIndex((one) => LETTER.test(one))
  const last = characters.findLastIndex((one) => LETTER.test(one))
  const core = characters.slice(first, last + 1).join('')
  return (
    new Set(password).size < VARIETY_MIN ||
    '01234567890123456789'.includes(password) ||
    '98765432109876543210'.includes(password) ||
    COMMON.has(password) ||
    COMMON.has(core) ||
    password === email ||
    (local.length > 2 && core === local)
  )
}
