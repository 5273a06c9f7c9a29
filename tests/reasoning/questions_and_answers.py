"""Small dialogues, a question each, and what the local engine must answer; "" where it must abstain.

Turns follow each other by a minute on Monday, 8 May 2023.
"""

CASES: tuple[tuple[str, str, str], ...] = (
    # when
    ("Ann: I went to the dentist yesterday.", "When did Ann go to the dentist?", "7 May 2023"),
    ("Ann: I went to the dentist yesterday.", "When did Ben go to the dentist?", ""),
    ("Ann: The concert is on 12 June.", "When is the concert?", "12 June 2023"),
    ("Ben: We moved in 2019, and in 2021 we bought the house.", "When did Ben buy the house?", "2021"),
    ("Ann: My exam is next month.", "When is Ann's exam?", "June 2023"),
    ("Ann: I'd love to go to Japan one day.", "When did Ann go to Japan?", ""),
    ("Ann: My flight lands at 5 pm.", "What time does Ann's flight land?", "5 pm"),
    ("Ann: My flight lands on Friday.", "What time does Ann's flight land?", ""),
    (
        "Ann: My sister Ingrid moved from Lisbon to Oslo in March.",
        "When did Ingrid move to Oslo?",
        "March 2023",
    ),
    # where
    ("Ann: My sister Ingrid moved from Lisbon to Oslo in March.", "Where did Ingrid move to?", "Oslo"),
    ("Ann: My sister Ingrid moved from Lisbon to Oslo in March.", "Where did Ingrid move from?", "Lisbon"),
    ("Ann: I moved here from Sweden four years ago.", "Where did Ann move from 4 years ago?", "Sweden"),
    ("Ann: We met at the climbing gym last winter.", "Where did they meet?", "the climbing gym"),
    ("Ben: I left my bike at the bakery.", "Where did Ben leave his bike?", "the bakery"),
    ("Ben: I work as a nurse.", "Where does Ben work?", ""),
    ("Ann: My parents live in Ghent, but I live in Bruges.", "Where do Ann's parents live?", "Ghent"),
    ("Ann: My parents live in Ghent, but I live in Bruges.", "Where does Ann live?", "Bruges"),
    ("Ann: I was born in Oslo. | Ben: I was born in Rome.", "Where was Ben born?", "Rome"),
    # who
    ("Ann: I had lunch with Priya on Sunday.", "Who did Ann have lunch with?", "Priya"),
    ("Ann: I had lunch with Priya on Sunday.", "With whom did Ann have lunch?", "Priya"),
    ("Ben: The cake was baked by Mrs. Olsen.", "Who baked the cake?", "Mrs. Olsen"),
    ("Ann: I baked the cake myself.", "Who baked the cake?", "Ann"),
    ("Ann: The cake was delicious.", "Who baked the cake?", ""),
    ("Ben: My brother Milo teaches chemistry.", "Who teaches chemistry?", "Milo"),
    ("Ann: Our new neighbour is called Henrik Sommer.", "Who is Ann's new neighbour?", "Henrik Sommer"),
    ("Ann: My sister Ingrid moved to Oslo in March.", "Who moved to Oslo?", "Ingrid"),
    (
        "Ben: I'm supposed to give the speech. | Ann: Then I'll give the speech.",
        "Who gives the speech?",
        "Ann",
    ),
    # whose
    ("Ben: I borrowed Clara's tent for the weekend.", "Whose tent did Ben borrow?", "Clara's"),
    ("Ben: We slept in my tent.", "Whose tent did they sleep in?", "Ben's"),
    ("Ann: We slept in a tent.", "Whose tent did Ann sleep in?", ""),
    # what, which
    (
        "Tom: Just so she knows, Mila is allergic to sesame. Nuts are fine.",
        "What is Mila allergic to?",
        "sesame",
    ),
    ("Tom: Mila is allergic to sesame.", "What is Tom allergic to?", ""),
    ("Tom: Mila is allergic, I am afraid.", "What is Mila allergic to?", ""),
    ("Ann: I'm afraid of spiders and heights.", "What is Ann afraid of?", "spiders and heights"),
    ("Ben: My dog is called Bruno.", "What is Ben's dog called?", "Bruno"),
    ("Ben: My dog's name is Bruno.", "What is the name of Ben's dog?", "Bruno"),
    ("Ben: My dog is very old.", "What is the name of Ben's dog?", ""),
    ("Ann: I work as a nurse in Leeds.", "What does Ann work as?", "a nurse"),
    ("Ann: I bought a red bicycle at the market.", "What did Ann buy at the market?", "a red bicycle"),
    ("Ann: My favourite colour is green.", "What is Ann's favourite colour?", "green"),
    ("Ann: My favourite colour is green.", "What is Ann's favourite dish?", ""),
    ("Ben: I play the clarinet.", "What instrument does Ben play?", "the clarinet"),
    ("Ben: I'm flying with Lufthansa on Friday.", "Which airline is Ben flying with?", "Lufthansa"),
    ("Ann: Aunt Rosa arrives on September 10.", "Which airline is Aunt Rosa flying with?", ""),
    ("Ann: Aunt Rosa is flying on September 10.", "Which airline is Aunt Rosa flying with?", ""),
    ("Ann: The train leaves from platform 9.", "Which platform does the train leave from?", "platform 9"),
    # how many, how much, how long
    ("Ben: We have two cats and three dogs.", "How many dogs does Ben have?", "three"),
    ("Ben: We have two cats and three dogs.", "How many cats does Ben have?", "two"),
    ("Ben: We have two cats and three dogs.", "How many rabbits does Ben have?", ""),
    ("Ann: I ran 12 kilometres in 70 minutes.", "How many kilometres did Ann run?", "12"),
    ("Ann: The house is 1,900 euros, and he wants a deposit.", "How much is the house?", "1,900 euros"),
    ("Ann: The house is 1,900 euros, and he wants a deposit.", "How much is the deposit?", ""),
    (
        "Ann: The house is 1,900 euros. | Ann: The deposit is 475 euros.",
        "How much is the deposit for the house?",
        "475 euros",
    ),
    (
        "Ann: I paid 20 euros for the ticket and 5 euros for the coat.",
        "How much did Ann pay for the coat?",
        "5 euros",
    ),
    ("Ann: I paid 20 euros for the ticket and 5 euros for the coat.", "How much was the ticket?", "20 euros"),
    ("Ann: I've lived here for three years.", "How long has Ann lived here?", "three years"),
    ("Ann: The drive took 7 hours.", "How long did the drive take?", "7 hours"),
    # yes, no
    ("Ann: Dad said that he doesn't want a live band.", "Does Dad want a live band?", "No"),
    ("Ann: I like sushi.", "Does Ann like sushi?", "Yes"),
    ("Ann: I like sushi.", "Does Ben like sushi?", ""),
    ("Ann: I like sushi.", "Does Ann like ramen?", ""),
    ("Ann: Did you finish the book? | Ben: Yes, on Sunday!", "Did Ben finish the book?", "Yes"),
    ("Ann: Did you finish the book? | Ben: Not yet.", "Did Ben finish the book?", "No"),
    # why
    (
        "Ann: I quit my job because the commute was too long.",
        "Why did Ann quit her job?",
        "the commute was too long",
    ),
    ("Ann: I quit my job in May.", "Why did Ann quit her job?", ""),
    # lists
    ("Ann: Last year I visited Rome, Oslo and Ghent.", "Which cities did Ann visit?", "Rome, Oslo and Ghent"),
    ("Ben: I collect stamps and old maps.", "What does Ben collect?", "stamps and old maps"),
    (
        "Ben: I play the clarinet. | Ann: I play guitar. | Ben: I also play the violin.",
        "What instruments does Ben play?",
        "the clarinet, the violin",
    ),
    # corrections
    (
        "Ann: The tasting is on June 8 at her kitchen. | Ann: The tasting is moved to Tuesday, June 13.",
        "When is the tasting at her kitchen?",
        "13 June 2023",
    ),
    (
        "Ann: My flight lands at 5 pm. | Ann: Correction, my flight lands at 7 pm.",
        "What time does Ann's flight land?",
        "7 pm",
    ),
    ("Ann: I live in Porto. | Ben: Nice! | Ann: I live in Madrid now.", "Where does Ann live?", "Madrid"),
)
