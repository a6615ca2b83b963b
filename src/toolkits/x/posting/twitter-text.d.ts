declare module 'twitter-text' {
  interface ParsedTweet {
    readonly weightedLength: number;
    readonly valid: boolean;
    readonly permillage: number;
  }
  const twitterText: {
    parseTweet(text: string): ParsedTweet;
    hasInvalidCharacters(text: string): boolean;
  };
  export default twitterText;
}
