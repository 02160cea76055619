// Validators for Node on the same cases as `callgate-bench engine`: nanoseconds from a text to the verdict on a good value.
// usage: node validators.mjs [FOLDER OF CASES]
import { readdirSync, readFileSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Ajv2020 from 'ajv/dist/2020.js'
import { validator } from '@exodus/schemasafe'

const TURNS = 30
const BATCH_NS = 3e6
const folder = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../cases')

const compilers = {
  ajv: schema => new Ajv2020({ strict: false }).compile(schema),
  schemasafe: schema => validator(schema, { mode: 'spec' })
}

let kept = 0
function batch(work, runs) {
  const start = process.hrtime.bigint()
  for (let run = 0; run < runs; run++) kept += work() ? 1 : 0
  return Number(process.hrtime.bigint() - start)
}

const cases = readdirSync(folder).filter(name => existsSync(join(folder, name, 'schema.json')))
console.log(`from a text to the verdict on a good value, nanoseconds, the least of ${TURNS} turns`)
console.log(['case'.padEnd(10), 'bytes', 'JSON.parse', ...Object.keys(compilers)].join('\t'))
for (const name of cases) {
  const read = what => readFileSync(join(folder, name, `${what}.json`), 'utf8').trimEnd()
  const [valid, invalid] = [read('valid'), read('invalid')]
  const contestants = [() => JSON.parse(valid) !== undefined]
  for (const [who, compile] of Object.entries(compilers)) {
    const check = compile(JSON.parse(read('schema')))
    if (!check(JSON.parse(valid)) || check(JSON.parse(invalid))) throw new Error(`${name}: ${who} differs`)
    contestants.push(() => check(JSON.parse(valid)))
  }
  // The first batches are long, so that what is measured is compiled.
  const runs = contestants.map(work => Math.max(1, Math.round(2000 * BATCH_NS / batch(work, 2000))))
  const least = contestants.map(() => Infinity)
  for (let turn = 0; turn < TURNS; turn++) {
    contestants.forEach((work, at) => { least[at] = Math.min(least[at], batch(work, runs[at]) / runs[at]) })
  }
  console.log([name.padEnd(10), Buffer.byteLength(valid), ...least.map(time => time.toFixed(0))].join('\t'))
}
if (kept === 0) throw new Error('nothing was measured')
