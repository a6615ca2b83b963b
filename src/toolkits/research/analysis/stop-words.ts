const WORDS = `a about above after again against all also although always am an and another any anybody anyone anything are aren't
around as at away back be because become been before being below between both but by can can't cannot could couldn't did didn't do
does doesn't doing don don't done down during each either else enough er etc even ever every everybody everyone everything few for
from further get gets getting go goes going gone got had hadn't has hasn't have haven't having he he'd he'll he's her here here's
hers herself him himself his how however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just kind know like
likely made make makes making many may maybe me mean might mine more most much must my myself near never no nobody non none nor not nothing
now of off often oh ok okay on once one ones only onto or other others ought our ours ourselves out over own per perhaps probably put
quite rather really said same say saying says see seem seemed seems she she'd she'll she's should shouldn't since so some somebody
someone something sometimes somewhere sort still such sure take than that that's the their theirs them themselves then there
there's these they they'd they'll they're they've thing things think this those though through thus to together too toward towards um
uh under until up upon us use used very was wasn't we we'd we'll we're we've well went were weren't what what's whatever when where
whether which while who who's whoever whole whom whose why will with within without won't would wouldn't yeah yes yet you you'd
you'll you're you've your yours yourself yourselves`;

const STOP = new Set(WORDS.split(/\s+/));

/** True for words that hold an English sentence together and say nothing of its subject. */
export const isStopWord = (word: string): boolean => STOP.has(word);

const MEASURES = new Set(
  `ago century day days decade dozen eight eighteen eighty eleven evening fifteen fifth fifty first five forty four fourteen fourth
half hour hours hundred last later minute minutes moment month months morning next nine nineteen ninety once quarter second seconds
seven seventeen seventy six sixteen sixty ten third thirteen thirty thousand three time times today tomorrow tonight twelve twenty
twice two week weekend weeks year years yesterday`.split(/\s+/),
);

/** True for English words that only count or tell the time. */
export const isMeasure = (word: string): boolean => MEASURES.has(word);
